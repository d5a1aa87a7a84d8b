import t from 'tap';
import { eventually } from '../support/eventually.ts';
import { administrator, bootstrapToken, type TestScope } from '../support/gateway/gateway.ts';
import { type GatewayProcess, startGatewayProcess } from '../support/gateway/gateway-process.ts';
import { scrape } from '../support/gateway/scrape.ts';
import { readyz, workersOf } from '../support/gateway/worker-processes.ts';

const { username, password } = administrator;
/** Each on a connection of its own: enough to reach every worker. */
const many = 40;

/** With an administrator, and routes that any credential may use. */
async function startWorkers(t: TestScope, config: object = {}): Promise<GatewayProcess> {
  const routes = [{ prefix: '/api', upstream: 'app' }];
  const gateway = await startGatewayProcess(t, { config: { workers: 2, routes, ...config } });
  await gateway.api.activate(username, password, bootstrapToken);
  return gateway;
}

async function statusesOf(send: () => Promise<{ readonly status: number }>): Promise<number[]> {
  const responses = await Promise.all(Array.from({ length: many }, send));
  return [...new Set(responses.map(({ status }) => status))].sort();
}

t.test('a credential revoked in one worker is refused by all', async (t) => {
  const { api } = await startWorkers(t);
  const { accessToken: bearer } = await api.signIn(username, password);
  const { id, key } = await api.mintKey(bearer, { label: 'k', scopes: ['store:read'] });
  const byKey = () => api.send({ path: '/api/x', apiKey: key });
  const byToken = () => api.send({ path: '/api/x', bearer });
  t.strictSame(await statusesOf(byKey), [200]);
  t.strictSame(await statusesOf(byToken), [200]);
  t.equal((await api.send({ method: 'DELETE', path: `/api/admin/api-keys/${id}`, bearer })).status, 204);
  await eventually('no worker takes the key', async () => (await statusesOf(byKey)).join() === '401', 1_000);
  t.equal((await api.send({ path: '/api/logout', bearer })).status, 200);
  await eventually(
    'no worker takes the token',
    async () => (await statusesOf(byToken)).join() === '401',
    1_000,
  );
});

t.test('the throttle counts for all workers together', async (t) => {
  const login_throttle = { per_account_and_address: 10 };
  const { api } = await startWorkers(t, { login_throttle });
  const form = { username, password: 'wrong horse battery staple' };
  const attempts = await Promise.all(
    Array.from({ length: many }, () => api.send({ method: 'POST', path: '/api/login/access-token', form })),
  );
  t.equal(attempts.filter(({ status }) => status === 401).length, 10);
  t.equal(attempts.filter(({ status }) => status === 429).length, many - 10);
});

t.test('tabs that refresh at once in several workers keep their session', async (t) => {
  const { api } = await startWorkers(t, { sessions: { reuse_grace: '0s' } });
  const { cookie } = await api.signIn(username, password);
  const responses = await Promise.all(Array.from({ length: 8 }, () => api.refresh(cookie)));
  const statuses = responses.map(({ status }) => status);
  t.ok(statuses.includes(200), `${statuses}`);
  t.ok(
    statuses.every((status) => status === 200 || status === 401),
    `${statuses}`,
  );
});

t.test('counts are those of all workers, and of those that have ended', async (t) => {
  const gateway = await startWorkers(t);
  const { api, managementPort } = gateway;
  const count = async () => {
    const metrics = await scrape(managementPort);
    return {
      requests: metrics.value('requests_total', { route: '/api', outcome: 'not_authenticated' }),
      durations: metrics.value('request_duration_seconds_count', { route: '/api' }),
    };
  };
  await statusesOf(() => api.send({ path: '/api/x' }));
  t.strictSame(await count(), { requests: many, durations: many });
  for (const pid of workersOf(gateway.pid!)) {
    process.kill(pid, 'SIGKILL');
    await eventually('another one', async () => {
      const { ready } = (await readyz(managementPort)).workers;
      return ready === 2 && !workersOf(gateway.pid!).includes(pid);
    });
    t.strictSame(await count(), { requests: many, durations: many });
  }
  await statusesOf(() => api.send({ path: '/api/x' }));
  t.strictSame(await count(), { requests: 2 * many, durations: 2 * many });
  const metrics = await scrape(managementPort);
  for (const name of ['process_resident_memory_bytes', 'nodejs_eventloop_lag_p99_seconds'])
    for (const worker of ['1', '2', 'supervisor'])
      t.ok(metrics.value(name, { worker }) > 0, `${name} of ${worker}`);
  t.equal(metrics.value('store_up', { store: 'records' }), 1, 'a fact that all share');
  t.equal(metrics.value('sessions'), 0);
  t.equal(metrics.value('connections_max'), 10_000, 'what each may take is a part of it');
});

t.test('a line of the log is never broken by that of another worker', async (t) => {
  // Longer than what the system writes to a pipe in one piece.
  const path = `/api/${'x'.repeat(7_000)}`;
  const gateway = await startWorkers(t);
  const rounds = 5;
  for (let round = 0; round < rounds; round++) await statusesOf(() => gateway.api.send({ path }));
  await gateway.stop();
  // Parsing each of them is the assertion.
  const lines = gateway.logLines().filter((line) => line.path === path);
  t.equal(lines.length, rounds * many);
});
