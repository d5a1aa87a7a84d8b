import { join } from 'node:path';
import Database from 'better-sqlite3';
import t from 'tap';
import { addUser, changeUser, withRecords } from '../support/administration/accounts.ts';
import { eventually } from '../support/eventually.ts';
import { startTestGateway, type TestGateway, type TestScope } from '../support/gateway/gateway.ts';
import { scrape } from '../support/gateway/scrape.ts';

const username = 'grace';
const password = 'nanoseconds are this long';
const newPassword = 'a password that replaced it';
const form = { username, password };

/** Hashes of half a second and more leave time to change things while one is worked out. */
const slow = { memory: '64MiB', iterations: 8 };

/** Resolves when the password of a sign-in is being checked. */
function hashing({ managementPort }: TestGateway): Promise<unknown> {
  const isRunning = async () =>
    (await scrape(managementPort)).value('password_hashes', { state: 'running' }) > 0;
  return eventually('a hash is worked out', isRunning);
}

async function startSlowly(t: TestScope) {
  const gateway = await startTestGateway(t, { config: { passwords: slow } });
  const user = await addUser(gateway.folder, { username, password, scopes: ['store:read'] });
  const login = () => gateway.api.send({ method: 'POST', path: '/api/login/access-token', form });
  const sessionCount = () => {
    const sessions = new Database(join(gateway.folder, 'sessions.db'), { readonly: true });
    const count = sessions.prepare('SELECT count(*) FROM sessions').pluck().get();
    sessions.close();
    return count;
  };
  return { ...gateway, user, login, sessionCount };
}

t.test('a user disabled while the password is checked gets no session', async (t) => {
  const gateway = await startSlowly(t);
  const { login, folder, user, logLines, sessionCount } = gateway;
  const response = login();
  await hashing(gateway);
  await changeUser(folder, user.id, { disabled: true });
  t.match(await response, { status: 401, json: { code: 'invalid_credentials' }, setCookies: [] });
  t.same(
    logLines()
      .filter(({ audit }) => audit)
      .map(({ event, subject }) => ({ event, subject })),
    [{ event: 'login_failed', subject: user.id }],
  );
  t.equal(sessionCount(), 0, 'none that enabling the user would bring to life');
});

t.test('a password replaced while the old one is checked gets no session', async (t) => {
  const gateway = await startSlowly(t);
  const { login, folder, user, sessionCount } = gateway;
  await login();
  const response = login();
  await hashing(gateway);
  await changeUser(folder, user.id, { password: newPassword });
  t.match(await response, { status: 401, json: { code: 'invalid_credentials' } });
  t.equal(sessionCount(), 1, 'the one from before');
});

t.test('rehashing at the present cost never restores an old password', async (t) => {
  const gateway = await startTestGateway(t, { config: { passwords: slow } });
  const { folder, api } = gateway;
  const { id } = await addUser(folder, { username, password });
  const response = api.send({ method: 'POST', path: '/api/login/access-token', form });
  await hashing(gateway);
  await changeUser(folder, id, { password: newPassword });
  t.equal((await response).status, 401);
  await api.signIn(username, newPassword);
});

t.test('a cheap hash is replaced at sign-in, also when several sign in at once', async (t) => {
  const passwords = { memory: '1MiB', iterations: 1 };
  const { folder, api } = await startTestGateway(t, { config: { passwords } });
  const { id, passwordHash } = await addUser(folder, { username, password });
  const login = () => api.signIn(username, password);
  await Promise.all([login(), login(), login(), login()]);
  const after = await withRecords(folder, async (records) => (await records.findUser(id))!.user.passwordHash);
  t.match(passwordHash, /^\$argon2id\$v=19\$m=64,p=1,t=1\$/);
  t.match(after, /^\$argon2id\$v=19\$m=1024,p=1,t=1\$/);
  await login();
});
