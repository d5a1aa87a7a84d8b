import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import Database from 'better-sqlite3';
import t from 'tap';
import { eventually } from '../support/eventually.ts';
import { administrator, bootstrapToken, startTestGateway } from '../support/gateway.ts';
import { startHttpUpstream } from '../support/http-upstream.ts';
import { scrape } from '../support/scrape.ts';

const { username, password } = administrator;

t.test("Postern's own share is what comes before the upstream, and all of its own answers", async (t) => {
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
  t.ok(value(own, forwarded) < 0.1, `its own share has not: ${value(own, forwarded)}`);
  t.ok(value(own, forwarded) > 0);
  const answered = { route: '/api/bootstrap/activate' };
  t.equal(value(own, answered), value(whole, answered));
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
    4,
    'both counted and given back',
  );
  t.equal(await measured('store_errors_total', 'sessions', 'write'), 0);
  const db = new Database(join(folder, 'sessions.db'));
  db.exec('DROP TABLE sessions');
  db.close();
  const form = { username, password };
  const answer = await api.send({ method: 'POST', path: '/api/login/access-token', form });
  t.equal(answer.status, 503);
  t.equal(await measured('store_errors_total', 'sessions', 'write'), 1);
  t.equal(await measured('store_errors_total', 'records', 'read'), 0);
});
