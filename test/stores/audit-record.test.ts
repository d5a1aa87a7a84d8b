import { join } from 'node:path';
import Database from 'better-sqlite3';
import t, { type Test } from 'tap';
import { startKeyAdministration } from '../support/administration/key-administration.ts';
import { eventually } from '../support/eventually.ts';
import { administrator } from '../support/gateway/gateway.ts';
import { scrape } from '../support/gateway/scrape.ts';
import { testOnEveryStore } from '../support/stores/every-store.ts';

const { username, password } = administrator;
const loginPath = '/api/login/access-token';

/** A gateway behind a proxy, its audit, and a client at an address. */
async function start(t: Test, config: object = {}) {
  const gateway = await startKeyAdministration(t, {
    config: { trusted_proxies: ['127.0.0.1'], ...config },
  });
  const { api, asAdministrator } = gateway;
  async function events(query = ''): Promise<any[]> {
    const path = `/api/admin/audit/?sort_order=asc${query}`;
    return (await api.send({ path, ...asAdministrator })).json.items;
  }
  const from = (address: string, more: object = {}) => ({ headers: { 'x-forwarded-for': address, ...more } });
  return { ...gateway, events, from };
}

const sessionIdOf = (cookie: string) => cookie.slice(cookie.indexOf('=') + 1).split('.')[0]!;

testOnEveryStore('sign-in, reuse and sign-out are in the audit, as in the log', async (t, stores) => {
  const { api, events, from, advance, logLines } = await start(t, stores);
  const form = { username, password };
  const headers = from('192.0.2.7', { 'user-agent': 'curl/8', 'x-request-id': 'in' });
  const signedIn = await api.send({ method: 'POST', path: loginPath, form, ...headers });
  const cookie = signedIn.setCookies[0]!.split(';', 1)[0]!;
  const session = sessionIdOf(cookie);
  const [login] = await events(`&target__eq=${session}`);
  t.match(login, {
    event: 'login_succeeded',
    outcome: 'success',
    actor: { kind: 'session', session },
    target: { type: 'session', id: session },
    changes: null,
    reason: null,
    address: '192.0.2.7',
    user_agent: 'curl/8',
    request_id: 'in',
  });

  const { cookie: other } = await api.signIn(username, password);
  const refresh = (cookie: string) =>
    api.send({ method: 'POST', path: '/api/login/refresh-token', cookie, ...from('192.0.2.8') });
  advance(30_000);
  const next = (await refresh(other)).setCookies[0]!.split(';', 1)[0]!;
  await refresh(next);
  advance(30_000);
  t.equal((await refresh(other)).status, 401);
  const reuse = await eventually('the event of the reuse', async () =>
    (await events('&event__eq=refresh_token_reused')).at(0),
  );
  t.match(reuse, {
    outcome: 'failure',
    actor: { user: login.actor.user, kind: 'anonymous' },
    target: { type: 'session', id: sessionIdOf(other) },
    address: '192.0.2.8',
  });
  t.strictSame((await events(`&actor__eq=${login.actor.user}&event__eq=refresh_token_reused`)).length, 1);

  await api.send({ path: '/api/logout', bearer: signedIn.json.access_token, ...from('192.0.2.9') });
  const revoked = await eventually('the event of the sign-out', async () =>
    (await events(`&target__eq=${session}&event__eq=session_revoked`)).at(0),
  );
  t.match(revoked, { actor: { kind: 'session', session }, address: '192.0.2.9' });
  for (const { id, event, actor, target } of [login, reuse, revoked])
    t.match(
      logLines().filter((line) => line.id === id),
      [{ audit: true, event, actor, target }],
      `${event} is in the log under the same id`,
    );
});

testOnEveryStore(
  'refusals are counted by address and code, own paths and forwarded ones',
  async (t, stores) => {
    const { api, events, from, advance, managementPort } = await start(t, stores);
    const wrong = { method: 'POST', path: loginPath, form: { username, password: 'not the password' } };
    for (let count = 0; count < 3; count += 1) await api.send({ ...wrong, ...from('192.0.2.1') });
    await api.send({ ...wrong, ...from('192.0.2.2') });
    for (const host of ['2001:db8:0:1::1', '2001:db8:0:1::2'])
      t.equal((await api.send({ path: '/api/store/asset/1', ...from(host) })).status, 401);
    t.equal((await api.send({ path: '/api/admin/api-keys/', ...from('2001:db8:0:1::3') })).status, 401);
    const refused = async () => (await events('&outcome__eq=failure')) as any[];
    t.strictSame(await refused(), [], 'none before the minute is over');

    advance(60_000);
    const lines = await eventually('the lines of the minute', async () => {
      const found = await refused();
      return found.length > 0 && found;
    });
    const told = lines.map(({ event, reason, address, count, target, request_id }: any) => [
      ...[event, reason, address, count, target, request_id],
    ]);
    t.strictSame(
      told.sort((one, other) => (String(one) < String(other) ? -1 : 1)),
      [
        ['login_failed', 'invalid_credentials', '192.0.2.1', 3, null, null],
        ['login_failed', 'invalid_credentials', '192.0.2.2', 1, null, null],
        ['request_refused', 'not_authenticated', '2001:db8:0:1::/64', 3, null, null],
      ],
    );
    for (const { first, last } of lines) t.ok(Date.parse(first) <= Date.parse(last));
    for (const [asked = '', address] of [
      ['192.0.2.2', '192.0.2.2'],
      ['::ffff:192.0.2.2', '192.0.2.2'],
      ['::FFFF:c000:202', '192.0.2.2'],
      ['2001:db8:0:1::/64', '2001:db8:0:1::/64'],
      ['2001:DB8:0:1:0:0:0:9/64', '2001:db8:0:1::/64'],
    ])
      t.match(await events(`&address__eq=${encodeURIComponent(asked)}`), [{ address }], asked);
    for (const asked of [
      '::ffff:192.0.2.3',
      '192.0.2.2/64',
      '2001:db8:0:1::',
      '2001:db8:0:1::/63',
      'nowhere',
    ])
      t.strictSame(await events(`&address__eq=${encodeURIComponent(asked)}`), [], asked);
    const { text: metrics } = await scrape(managementPort);
    t.match(metrics, /^postern_audit_events_total\{outcome="written"\} 5$/m, 'activation and sign-in, too');
    t.match(metrics, /^postern_audit_waiting 0$/m);
  },
);

testOnEveryStore('what is counted is written when the gateway stops', async (t, stores) => {
  const first = await start(t, stores);
  await first.api.send({ path: '/api/store/asset/1', ...first.from('192.0.2.3') });
  await first.stop();
  const second = await startKeyAdministration(t, { config: stores, folder: first.folder });
  const path = '/api/admin/audit/?event__eq=request_refused';
  const { json } = await second.api.send({ path, ...second.asAdministrator });
  t.match(json.items, [{ reason: 'not_authenticated', address: '192.0.2.3', count: 1 }]);
  t.equal(json.items.length, 1);
});

t.test('without its line no one is signed in, and a sign-out is not held up', async (t) => {
  const { api, folder, events, logLines } = await start(t, {});
  const { accessToken, cookie } = await api.signIn(username, password);
  const other = new Database(join(folder, 'records.db'));
  t.teardown(() => other.close());
  other.exec('BEGIN IMMEDIATE');
  const form = { username, password };
  const refused = await api.send({ method: 'POST', path: loginPath, form });
  t.match(refused, { status: 503, json: { code: 'store_unavailable' }, setCookies: [] });
  t.equal((await api.send({ path: '/api/logout', bearer: accessToken })).status, 200);
  const ended = logLines().filter(({ event }) => event === 'session_revoked');
  t.match(
    ended.at(-1),
    { session: sessionIdOf(cookie), actor: { kind: 'session' } },
    'its line is in the log',
  );
  other.exec('ROLLBACK');

  const revoked = await eventually('the events that waited', async () => {
    const found = await events('&event__eq=session_revoked');
    return found.length === 2 && found;
  });
  t.strictSame(
    revoked.map(({ id }: any) => id),
    ended.map(({ id }) => id),
    'as in the log, in the same order',
  );
  t.match(revoked[0], { actor: { kind: 'system' } }, 'the session that was not handed over');
  t.equal((await events('&event__eq=login_succeeded')).length, 2);
});
