import { join } from 'node:path';
import Database from 'better-sqlite3';
import t from 'tap';
import type { Records } from '../../src/stores/records.ts';
import { addUser, changeUser, withRecords } from '../support/administration/accounts.ts';
import { connectRaw } from '../support/clients/raw-client.ts';
import { startTestGateway, type TestScope } from '../support/gateway/gateway.ts';
import { respondWithoutEnd } from '../support/servers/event-stream.ts';
import { startHttpUpstream } from '../support/servers/http-upstream.ts';

const path = '/api/open-to-all-signed-in';
const password = 'nanoseconds are this long';
const byCommand = {
  caller: { kind: 'command_line' },
  decide() {},
  audit: { drafts: () => [], onWritten() {} },
} as const;

/** Two users, signed in; what happens to their records here reaches no session store. */
async function start(t: TestScope, config: object = {}) {
  const gateway = await startTestGateway(t, { config });
  const { api, folder } = gateway;
  const sessionCount = () => {
    const sessions = new Database(join(folder, 'sessions.db'), { readonly: true });
    const count = sessions.prepare('SELECT count(*) FROM sessions').pluck().get();
    sessions.close();
    return count;
  };
  const [grace, ada] = [
    await addUser(folder, { username: 'grace', password, scopes: ['apikeys:read'] }),
    await addUser(folder, { username: 'ada', password }),
  ];
  const signIn = (username: string) => api.signIn(username, password);
  return { ...gateway, grace, ada, signIn, sessionCount };
}

const change = (folder: string, work: (records: Records) => Promise<unknown>) =>
  withRecords(folder, async (records) => void (await work(records)));

const endings: Readonly<Record<string, (folder: string, id: string) => Promise<void>>> = {
  'a new password': (folder, id) => changeUser(folder, id, { password }),
  'being disabled and enabled again': async (folder, id) => {
    await changeUser(folder, id, { disabled: true });
    await changeUser(folder, id, { disabled: false });
  },
  'ending all sessions of the user': (folder, id) =>
    change(folder, (records) => records.endSessionsOfUser(id, byCommand)),
  'ending all sessions': (folder) => change(folder, (records) => records.endAllSessions(byCommand)),
};

for (const [name, end] of Object.entries(endings))
  t.test(`after ${name} a session is dead, whatever the session store says`, async (t) => {
    const { api, folder, grace, signIn, sessionCount } = await start(t);
    const [one, two, ofAda] = [await signIn('grace'), await signIn('grace'), await signIn('ada')];
    for (const { accessToken } of [one, two, ofAda])
      t.equal((await api.send({ path, bearer: accessToken })).status, 200);
    await end(folder, grace.id);
    t.equal(sessionCount(), 3, 'it holds them all');
    t.match(await api.send({ path, bearer: one.accessToken }), {
      status: 401,
      json: { code: 'invalid_token' },
    });
    const own = await api.send({ path: '/api/admin/api-keys/', bearer: one.accessToken });
    t.match(own, { status: 401, json: { code: 'invalid_token' } });
    const both = `${one.cookie}; ${ofAda.cookie}`;
    const isOther = name !== 'ending all sessions';
    t.equal((await api.refresh(both)).status, isOther ? 200 : 401, 'of two cookies the live one counts');
    t.match(await api.refresh(one.cookie), {
      status: 401,
      json: { code: 'invalid_refresh_token', error: 'invalid_grant' },
      setCookies: [],
    });
    t.equal(sessionCount(), 2, 'a refresh removes it');
    t.equal((await api.send({ path: '/api/logout', cookie: two.cookie })).status, 401);
    t.equal(sessionCount(), 1, 'and so does a sign-out');
    t.equal((await api.send({ path, bearer: ofAda.accessToken })).status, isOther ? 200 : 401);
    const next = await signIn('grace');
    t.equal((await api.send({ path, bearer: next.accessToken })).status, 200);
    t.equal((await api.refresh(next.cookie)).status, 200);
  });

t.test('streams of a dead session end', async (t) => {
  const upstream = await startHttpUpstream(t, respondWithoutEnd);
  const { port, folder, grace, signIn } = await start(t, {
    upstreams: { events: { url: upstream.url } },
    routes: [{ prefix: '/api', upstream: 'events' }],
  });
  const { accessToken } = await signIn('grace');
  const connection = await connectRaw(port);
  connection.write(`GET /api/x HTTP/1.1\r\nHost: gateway\r\nAuthorization: Bearer ${accessToken}\r\n\r\n`);
  await connection.received('data: 1');
  await changeUser(folder, grace.id, { password });
  await connection.closed;
  t.pass('within the time of a test');
});

t.test('a session survives as long as its user’s record says', async (t) => {
  const { api, folder, grace, signIn } = await start(t);
  const [own, other] = [await signIn('grace'), await signIn('grace')];
  const statuses = () =>
    Promise.all(
      [own, other].map(async ({ accessToken, cookie }) => [
        (await api.send({ path, bearer: accessToken })).status,
        (await api.refresh(cookie)).status,
      ]),
    );
  const id = own.cookie.slice(own.cookie.indexOf('=') + 1).split('.')[0]!;
  await changeUser(folder, grace.id, { password, carriedSession: id });
  t.strictSame(await statuses(), [
    [200, 200],
    [401, 401],
  ]);
  await changeUser(folder, grace.id, { password });
  t.strictSame(await statuses(), [
    [401, 401],
    [401, 401],
  ]);
});

t.test('a session of an earlier epoch is not listed, shown or ended', async (t) => {
  const { api, folder, grace, signIn, sessionCount } = await start(t);
  const scopes = ['sessions:read', 'sessions:write'];
  await addUser(folder, { username: 'lise', password, scopes });
  for (let count = 0; count < 3; count += 1) await signIn('grace');
  const { accessToken: bearer } = await signIn('lise');
  const list = async () => (await api.send({ path: '/api/admin/sessions/?size=2', bearer })).json;
  const before = await list();
  t.equal(before.total, 4);
  const hers = before.items[1];
  t.equal(hers.user.id, grace.id);
  await change(folder, (records) => records.endSessionsOfUser(grace.id, byCommand));
  const path = `/api/admin/sessions/${hers.id}`;
  t.match(await api.send({ path, bearer }), { status: 404, json: { code: 'not_found' } });
  t.match(await api.send({ method: 'DELETE', path, bearer }), { status: 404, json: { code: 'not_found' } });
  t.match(await list(), { total: 1, next_page: null, items: [{ user: { username: 'lise' } }] });
  t.equal(sessionCount(), 1, 'the list has removed the others');
  const { accessToken: again } = await signIn('grace');
  t.equal((await list()).total, 2);
  t.equal((await api.send({ path: '/api/self/sessions', bearer: again })).status, 200);
});
