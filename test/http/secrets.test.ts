import { mkdtempSync, openSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import t from 'tap';
import { createLog } from '../../src/log/log.ts';
import { administrator, bootstrapToken, startTestGateway } from '../support/gateway/gateway.ts';
import { createSecretWatch } from '../support/gateway/secret-watch.ts';

const { username, password } = administrator;

/** Starts a gateway whose end is the test's to bring about; gives what the harness does at the end. */
async function startWithEnd() {
  const ends: (() => unknown)[] = [];
  const gateway = await startTestGateway({ teardown: (run) => ends.push(run) });
  const end = async () => {
    for (const run of ends) await run();
  };
  return { ...gateway, end };
}

t.test('the watch catches a password in a log line', async (t) => {
  const folder = mkdtempSync(join(tmpdir(), 'postern-test-'));
  t.teardown(() => rmSync(folder, { recursive: true }));
  const logFile = join(folder, 'log');
  const secrets = createSecretWatch();
  secrets.add(password);
  const log = createLog({ level: 'info', destination: openSync(logFile, 'w') });
  log.info('somebody signed in', { password });
  log.flush();
  t.same(secrets.leaks(logFile), [], 'a field of that name is redacted');
  log.info(`somebody signed in with ${password}`);
  log.flush();
  t.same(secrets.leaks(logFile), [password]);
});

t.test('the harness fails a test in whose log a secret stands', async (t) => {
  const { api, secrets, end } = await startWithEnd();
  await api.send({ path: '/api/store/stands-in-the-access-line' });
  secrets.add('stands-in-the-access-line');
  await t.rejects(end(), /1 secrets in the log or in an error body/);
});

t.test('the harness fails a test in which an error body holds a secret', async (t) => {
  const { api, upstream, end } = await startWithEnd();
  upstream.response = (_request, response, body) => response.writeHead(400).end(body);
  t.match(await api.send({ method: 'POST', path: '/api/open/form', json: { password } }), { status: 400 });
  await t.rejects(end(), /1 secrets/, 'a password that the service gave back');
});

t.test('credentials in every wrong place stand in no log line and no error body', async (t) => {
  const { api, secrets, logLines } = await startTestGateway(t, { config: { log: { level: 'debug' } } });
  const send = async (path: string, more: object = {}) => (await api.send({ path, ...more })).status;
  const post = (path: string, more: object) => send(path, { method: 'POST', ...more });

  t.equal(await post('/api/bootstrap/activate', { json: { token: bootstrapToken, password } }), 422);
  const short = { token: bootstrapToken, username, password: 'too short' };
  t.equal(await post('/api/bootstrap/activate', { json: short }), 422);
  t.equal(await post('/api/bootstrap/activate', { json: { ...short, token: ['in-a-list-of-tokens'] } }), 422);
  secrets.add('in-a-list-of-tokens');
  await api.activate(username, password, bootstrapToken);
  const { accessToken, cookie } = await api.signIn(username, password);
  const { key } = await api.mintKey(accessToken, { label: 'ci', scopes: ['store:read'] });
  const value = cookie.slice(cookie.indexOf('=') + 1);

  const login = '/api/login/access-token';
  const urlEncoded = { 'content-type': 'application/x-www-form-urlencoded' };
  const wrongKey = `${key.slice(0, -1)}${key.endsWith('0') ? '1' : '0'}`;
  secrets.add('twice given passwords');
  const statuses = {
    'a wrong password': [await post(login, { form: { username, password: 'a wrong password' } }), 401],
    'a password as JSON': [await post(login, { json: { username, password } }), 422],
    'a password twice': [
      await post(login, {
        body: 'username=ada&password=twice+given+passwords&password=twice+given+passwords',
        headers: urlEncoded,
      }),
      422,
    ],
    'a password in the query': [await post(`${login}?password=${encodeURIComponent(password)}`, {}), 422],
    'a token in the query': [await send(`/api/store/x?access_token=${accessToken}`), 401],
    'a key in the query': [await send(`/api/store/x?api_key=${key}`), 401],
    'a broken token': [await send('/api/store/x', { bearer: `${accessToken}x` }), 401],
    'a token as a key': [await send('/api/store/x', { apiKey: accessToken }), 401],
    'a key as a token': [await send('/api/store/x', { bearer: key }), 401],
    'a key with a wrong checksum': [await send('/api/store/x', { apiKey: wrongKey }), 401],
    'a token and a key': [await send('/api/store/x', { apiKey: key, bearer: accessToken }), 400],
    'a token of another scheme': [
      await send('/api/store/x', { headers: { authorization: `Token ${accessToken}` } }),
      401,
    ],
    'a cookie where none is read': [await send('/api/store/x', { cookie }), 401],
    'a cookie with a broken MAC': [await post('/api/login/refresh-token', { cookie: `${cookie}x` }), 401],
    'a cookie as a token': [await send('/api/store/x', { bearer: value }), 401],
    'a key minted with a member too many': [
      await post('/api/admin/api-keys/', {
        bearer: accessToken,
        json: { label: 'x', scopes: ['store:read'], key, password },
      }),
      422,
    ],
  };
  for (const [title, [status, expected]] of Object.entries(statuses)) t.equal(status, expected, title);
  for (const secret of [`${accessToken}x`, wrongKey, `${value}x`]) secrets.add(secret);
  t.ok(logLines().length > Object.keys(statuses).length, 'all of it was logged');
  // That none of it leaked, the harness says at the end of the test.
});
