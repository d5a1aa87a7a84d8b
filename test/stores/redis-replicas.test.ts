import { setTimeout as sleep } from 'node:timers/promises';
import t from 'tap';
import { addUser } from '../support/administration/accounts.ts';
import { administrator } from '../support/gateway/gateway.ts';
import { isLong } from '../support/gateway/gateway-under-load.ts';
import { cookieOf, judgeOver, partsOf, sessionKey, startReplicas } from '../support/gateway/replicas.ts';
import { requireRedis, startRedis } from '../support/stores/redis-server.ts';

const { username, password } = administrator;
/** Longer than fifty refreshes take: after that the previous cookie gets another successor. */
const reuseGraceMs = 2_000;
const sessions = { reuse_grace: `${reuseGraceMs}ms` };
const refreshRounds = isLong ? 200 : 3;
const logoutRounds = isLong ? 500 : 20;
const timeout = isLong ? 1_800_000 : 600_000;
t.setTimeout(timeout);

/** Until a cookie that was just issued or presented may rotate. */
const graceIsOver = (ms = reuseGraceMs) => sleep(ms + 10);

t.test(
  'parallel refreshes with one cookie over three processes get one successor',
  { timeout },
  async (t) => {
    if (!requireRedis(t)) return;
    const redis = await startRedis(t);
    const gateways = await startReplicas(t, [redis.url, redis.url, redis.url], { sessions });
    let { cookie } = await gateways[0].api.signIn(username, password);
    for (let round = 1; round <= refreshRounds; round++) {
      await graceIsOver();
      const presented = cookie;
      const responses = await Promise.all(
        Array.from({ length: 50 }, (_, index) => gateways[index % 3]!.api.refresh(presented)),
      );
      t.same([...new Set(responses.map(({ status }) => status))], [200], `round ${round}`);
      const successors = new Set(responses.map(cookieOf));
      t.equal(successors.size, 1, 'one current cookie');
      cookie = [...successors][0]!;
      t.equal(partsOf(cookie).generation, round + 1, 'one rotation a round');
      t.equal(await redis.command('HGET', sessionKey(cookie), 'generation'), String(round + 1));
      const confirmed = await Promise.all(gateways.map(({ api }) => api.refresh(cookie)));
      t.same(confirmed.map(cookieOf), [cookie, cookie, cookie], 'its first presentation only confirms it');
    }
  },
);

t.test('after a sign-out during its refreshes nothing of a session works', { timeout }, async (t) => {
  if (!requireRedis(t)) return;
  const shortGraceMs = 100;
  const redis = await startRedis(t);
  const gateways = await startReplicas(t, [redis.url, redis.url, redis.url], {
    sessions: { reuse_grace: `${shortGraceMs}ms` },
  });
  const outcomes = { refreshed: 0, refused: 0 };
  let longestMs = 0;
  for (let round = 0; round < logoutRounds; round++) {
    const [one, two, three] = gateways.map((_, index) => gateways[(round + index) % 3]!);
    const { accessToken, cookie } = await one!.api.signIn(username, password);
    await graceIsOver(shortGraceMs);
    const racing = [one, two, three, two].map(async (gateway, index) => {
      await sleep(index);
      return gateway!.api.refresh(cookie);
    });
    await sleep(Math.random() * 8);
    const credential = round % 2 === 0 ? { bearer: accessToken } : { cookie };
    const { status } = await three!.api.send({ path: '/api/logout', ...credential });
    const sinceMs = performance.now();
    const responses = await Promise.all(racing);
    const refreshed = responses.filter((response) => response.status === 200);
    outcomes.refreshed += refreshed.length;
    outcomes.refused += responses.filter((response) => response.status === 401).length;
    const cookies = [...new Set([cookie, ...refreshed.map(cookieOf)])];
    const bearers = [accessToken, ...refreshed.map(({ json }) => json.access_token)];
    longestMs = Math.max(longestMs, await judgeOver(t, gateways, { bearers, cookies }, sinceMs));
    if (status !== 200) t.fail(`the sign-out was answered ${status}`);
    if ((await redis.command('EXISTS', sessionKey(cookie))) !== 0) t.fail('it is stored again');
  }
  t.equal(outcomes.refreshed + outcomes.refused, 4 * logoutRounds, 'every refresh is 200 or 401');
  t.ok(outcomes.refreshed > 0 && outcomes.refused > 0, 'they did race');
  t.comment(`${logoutRounds} rounds`, outcomes, `over everywhere within ${Math.round(longestMs)} ms`);
});

t.test('failed sign-ins at several processes are counted together', async (t) => {
  if (!requireRedis(t)) return;
  const redis = await startRedis(t);
  const login_throttle = { per_account_and_address: 6, per_account: 100, per_address: 100 };
  const gateways = await startReplicas(t, [redis.url, redis.url], { login_throttle });
  const grace = { username: 'grace', password: 'nanoseconds are this long' };
  for (const name of [grace.username, 'bea']) await addUser(gateways[0].folder, { ...grace, username: name });
  const attempt = async (index: number, form: { username: string; password: string }) => {
    const path = '/api/login/access-token';
    const response = await gateways[index % 2]!.api.send({ method: 'POST', path, form });
    if (response.status === 429) t.match(response.headers['retry-after'], /^[1-9]\d*$/);
    return response.status;
  };
  const wrong = { ...grace, password: 'not the password' };
  const one = [];
  for (let index = 0; index < 7; index++) one.push(await attempt(index, wrong));
  t.same(one, [401, 401, 401, 401, 401, 401, 429], 'one after the other');
  t.same([await attempt(0, grace), await attempt(1, grace)], [429, 429], 'the right one, at either');
  const bea = { ...wrong, username: 'bea' };
  const statuses = await Promise.all(Array.from({ length: 30 }, (_, index) => attempt(index, bea)));
  t.equal(statuses.filter((status) => status === 401).length, 6, 'all at once');
  t.equal(statuses.filter((status) => status === 429).length, 24);
  t.same([await attempt(0, administrator), await attempt(1, administrator)], [200, 200], 'another account');
});
