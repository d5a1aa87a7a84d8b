import { join } from 'node:path';
import Database from 'better-sqlite3';
import t from 'tap';
import { addUser } from '../support/administration/accounts.ts';
import { startTestGateway, type TestScope } from '../support/gateway/gateway.ts';

const username = 'grace';
const password = 'nanoseconds are this long';
const graceMs = 30_000;

async function startSignedIn(t: TestScope) {
  const gateway = await startTestGateway(t);
  await addUser(gateway.folder, { username, password, scopes: ['store:read'] });
  return { ...gateway, ...(await gateway.api.signIn(username, password)) };
}

/** The file of a store as somebody else has it open. */
function openBeside(t: TestScope, folder: string, file: string): Database.Database {
  const db = new Database(join(folder, file));
  t.teardown(() => db.close());
  db.pragma('legacy_alter_table = ON');
  return db;
}

const unavailable = {
  status: 503,
  headers: { 'retry-after': /^\d+$/ },
  json: { code: 'store_unavailable', error: 'temporarily_unavailable' },
};

t.test(
  'while another process keeps the session store locked a refresh is 503 and costs nothing',
  async (t) => {
    const { api, folder, advance, cookie, accessToken } = await startSignedIn(t);
    advance(graceMs);
    const other = openBeside(t, folder, 'sessions.db');
    other.exec('BEGIN IMMEDIATE');

    const responses = await Promise.all([api.refresh(cookie), api.refresh(cookie), api.refresh(cookie)]);
    for (const response of responses) {
      t.match(response, unavailable);
      t.same(response.setCookies, []);
    }
    t.equal((await api.send({ path: '/api/store/x', bearer: accessToken })).status, 200, 'reads go on');

    other.exec('ROLLBACK');
    const refreshed = await api.refresh(cookie);
    t.equal(refreshed.status, 200);
    t.match(refreshed.setCookies[0], /\.2\./, 'no generation was lost');
  },
);

t.test('a session store that cannot be read is 503, and nothing is forgotten', async (t) => {
  const { api, folder, cookie } = await startSignedIn(t);
  const other = openBeside(t, folder, 'sessions.db');
  other.exec('ALTER TABLE sessions RENAME TO sessions_away');
  const refused = await api.refresh(cookie);
  t.match(refused, unavailable);
  t.same(refused.setCookies, []);
  const login = { method: 'POST', path: '/api/login/access-token', form: { username, password } };
  for (let i = 0; i < 12; i++) t.match(await api.send(login), unavailable, 'and no failed attempt');
  other.exec('ALTER TABLE sessions_away RENAME TO sessions');
  t.equal((await api.refresh(cookie)).status, 200);
  t.equal((await api.send(login)).status, 200);
});

t.test('a records store that cannot be read is 503: its user does not count as removed', async (t) => {
  const { api, folder, cookie } = await startSignedIn(t);
  const other = openBeside(t, folder, 'records.db');
  other.exec('ALTER TABLE users RENAME TO users_away');
  t.match(await api.refresh(cookie), unavailable);
  other.exec('ALTER TABLE users_away RENAME TO users');
  t.equal((await api.refresh(cookie)).status, 200);
});
