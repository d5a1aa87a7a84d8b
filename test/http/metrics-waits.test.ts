import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import Database from 'better-sqlite3';
import t from 'tap';
import { eventually } from '../support/eventually.ts';
import { administrator, bootstrapToken, startTestGateway } from '../support/gateway/gateway.ts';
import { readPoolGauges } from '../support/gateway/pool-gauges.ts';
import { scrape } from '../support/gateway/scrape.ts';
import { startHttpUpstream } from '../support/servers/http-upstream.ts';

const { username, password } = administrator;

t.test(
  "Postern's own share is the time before the upstream, and all of the time of its own responses",
  async (t) => {
    const upstream = await startHttpUpstream(t, async (_request, response) => {
      await sleep(150);
      response.end('late');
    });
    const { api, managementPort } = await startTestGateway(t, {
      config: { upstreams: { app: { url: upstream.url } } },
    });
    t.equal((await api.send({ path: '/api/open/slow' })).text, 'late');
    await api.activate(username, password, bootstrapToken);
    const { value } = await scrape(managementPort);
    const [whole, own] = ['request_duration_seconds_sum', 'request_own_seconds_sum'];
    const forwarded = { route: '/api/open' };
    t.ok(value(whole, forwarded) >= 0.145, 'the whole has the wait in it');
    const upstreamSeconds = value(whole, forwarded) - value(own, forwarded);
    t.ok(upstreamSeconds >= 0.145, `its own share has not: ${upstreamSeconds}`);
    t.ok(value(own, forwarded) > 0);
    const answered = { route: '/api/bootstrap/activate' };
    t.equal(value(own, answered), value(whole, answered));
  },
);

t.test('connections to an upstream are busy or free, and nothing waits while one is available', async (t) => {
  const { promise: mayEnd, resolve: end } = Promise.withResolvers<void>();
  const upstream = await startHttpUpstream(t, async (_request, response) => {
    await mayEnd;
    response.end();
  });
  const { api, managementPort } = await startTestGateway(t, {
    config: { upstreams: { app: { url: upstream.url, max_connections: 2 } } },
  });
  const gauges = () => readPoolGauges(managementPort);
  t.strictSame(await gauges(), { busy: 0, free: 0, open: 0, waiting: 0 }, 'there before the first');
  const one = api.send({ path: '/api/open/1' });
  await eventually('one', async () => (await gauges()).busy === 1);
  t.strictSame(await gauges(), { busy: 1, free: 0, open: 1, waiting: 0 });
  const others = [2, 3].map((n) => api.send({ path: `/api/open/${n}` }));
  await eventually('a queue', async () => (await gauges()).waiting === 1);
  t.strictSame(await gauges(), { busy: 2, free: 0, open: 2, waiting: 1 });
  end();
  await Promise.all([one, ...others]);
  await eventually('both are free', async () => (await gauges()).free === 2);
  t.strictSame(await gauges(), { busy: 0, free: 2, open: 2, waiting: 0 });
});

t.test('password hashes that run and wait are seen', async (t) => {
  const passwords = { memory: '64MiB', iterations: 8, concurrency: 1, queue: 8 };
  const { api, managementPort } = await startTestGateway(t, { config: { passwords } });
  const signIns = [1, 2, 3].map(() =>
    api.send({ method: 'POST', path: '/api/login/access-token', form: { username: 'nobody', password } }),
  );
  const hashes = async (state: string) => (await scrape(managementPort)).value('password_hashes', { state });
  await eventually(
    'two wait',
    async () => (await hashes('waiting')) === 2 && (await hashes('running')) === 1,
  );
  await Promise.all(signIns);
  t.equal(await hashes('running'), 0);
});

t.test('sessions count once however many tokens they have, until the last has expired', async (t) => {
  const { api, advance, managementPort } = await startTestGateway(t);
  const active = async () => (await scrape(managementPort)).value('active_sessions');
  await api.activate(username, password, bootstrapToken);
  const one = await api.signIn(username, password);
  const other = await api.signIn(username, password);
  t.equal(await active(), 0, 'none has been used');
  const again = (await api.refresh(one.cookie)).json.access_token;
  for (const bearer of [one.accessToken, again, other.accessToken])
    t.equal((await api.send({ path: '/api/x', bearer })).status, 200);
  t.equal(await active(), 2);
  advance(601_000);
  t.equal(await active(), 0);
});

t.test('stores are timed where they are waited for, and what they could not do is counted', async (t) => {
  const { api, folder, managementPort } = await startTestGateway(t);
  const measured = async (name: string, store: string, operation: string) =>
    (await scrape(managementPort)).value(name, { store, operation });
  await api.activate(username, password, bootstrapToken);
  await api.signIn(username, password);
  t.equal(await measured('store_duration_seconds_count', 'sessions', 'write'), 1);
  t.equal(
    await measured('store_duration_seconds_count', 'attempts', 'write'),
    6,
    'an activation counts before and after it hashes, a sign-in once, and all is given back',
  );
  t.equal(await measured('store_duration_seconds_count', 'records', 'read'), 0, 'SQLite is read on the spot');
  t.equal(await measured('store_errors_total', 'sessions', 'write'), 0);
  const db = new Database(join(folder, 'sessions.db'));
  db.exec('DROP TABLE sessions');
  db.close();
  const form = { username, password };
  const response = await api.send({ method: 'POST', path: '/api/login/access-token', form });
  t.equal(response.status, 503);
  t.equal(await measured('store_errors_total', 'sessions', 'write'), 1);
  t.equal(await measured('store_errors_total', 'records', 'read'), 0);
});
