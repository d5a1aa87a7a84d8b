import { setTimeout as sleep } from 'node:timers/promises';
import t from 'tap';
import { addUser } from '../support/administration/accounts.ts';
import { startTestGateway, type TestGateway, type TestScope } from '../support/gateway/gateway.ts';
import { isLong } from '../support/gateway/gateway-under-load.ts';

const path = '/api/login/access-token';
const password = 'nanoseconds are this long';
const wide = { per_account_and_address: 1000, per_account: 1000, per_address: 1000 };
/** A hundred milliseconds a hash, at full size a few hundred. */
const costly = { memory: '64MiB', iterations: isLong ? 6 : 2, concurrency: 1, queue: 2 };

async function startCostly(t: TestScope, login_throttle: object = wide) {
  const gateway = await startTestGateway(t, { config: { passwords: costly, login_throttle } });
  await addUser(gateway.folder, { username: 'grace', password, scopes: ['store:read'] });
  // Brings the hash of the fixture up to this gateway's cost.
  const { accessToken } = await gateway.api.signIn('grace', password);
  return { ...gateway, accessToken };
}

async function timedLogin({ api }: TestGateway, form: { username: string; password: string }) {
  const started = performance.now();
  const response = await api.send({ method: 'POST', path, form });
  return { response, tookMs: performance.now() - started };
}

t.test('beyond the hashing queue a sign-in is 503 within 500 ms, while traffic flows on', async (t) => {
  const gateway = await startCostly(t);
  const { api, accessToken } = gateway;
  let hashing = true;
  const forwardedMs: number[] = [];
  const traffic = async () => {
    while (hashing) {
      const started = performance.now();
      const { status } = await api.send({ path: '/api/store/x', bearer: accessToken });
      forwardedMs.push(performance.now() - started);
      if (status !== 200) throw new Error(`forwarding was answered ${status}`);
      await sleep(2);
    }
  };
  const flowing = Promise.all([traffic(), traffic()]);
  const form = { username: 'grace', password };
  const logins = await Promise.all(Array.from({ length: 30 }, () => timedLogin(gateway, form)));
  hashing = false;
  await flowing;

  const refused = logins.filter(({ response }) => response.status === 503);
  t.equal(
    logins.filter(({ response }) => response.status === 200).length,
    3,
    'one at work and two that wait',
  );
  t.equal(refused.length, 27);
  for (const { response, tookMs } of refused) {
    t.match(response.headers, { 'retry-after': /^[1-9]\d*$/, 'cache-control': 'no-store' });
    t.match(response.json, { code: 'overloaded', detail: 'Overloaded', error: 'temporarily_unavailable' });
    if (isLong) t.ok(tookMs < 500, `refused after ${Math.round(tookMs)} ms`);
    t.notOk(response.headers['www-authenticate']);
  }
  forwardedMs.sort((a, b) => a - b);
  const p99 = forwardedMs[Math.floor(forwardedMs.length * 0.99)]!;
  t.ok(forwardedMs.length > (isLong ? 50 : 3), `${forwardedMs.length} requests were forwarded meanwhile`);
  if (isLong) t.ok(p99 < 250, `p99 of forwarding ${Math.round(p99)} ms`);
});

t.test('a refusal by a full queue is not a failed attempt', async (t) => {
  const gateway = await startCostly(t, { ...wide, per_account_and_address: 2 });
  const fill = { password };
  const busy = Array.from({ length: 4 }, (_, index) =>
    timedLogin(gateway, { ...fill, username: `somebody else ${index}` }),
  );
  // One is at work, two wait, and the one that is refused tells that the queue is full.
  const refused = busy.map(async (login) => {
    if ((await login).response.status !== 503) throw new Error('it was hashed');
  });
  await Promise.any(refused);
  for (let i = 0; i < 6; i++) {
    const { response } = await timedLogin(gateway, { username: 'grace', password: 'not the password' });
    t.equal(response.status, 503, 'no 429 after the second');
  }
  await Promise.all(busy);
  const failed = () => timedLogin(gateway, { username: 'grace', password: 'not the password' });
  const statuses = [(await failed()).response.status, (await failed()).response.status];
  t.same([...statuses, (await failed()).response.status], [401, 401, 429]);
});
