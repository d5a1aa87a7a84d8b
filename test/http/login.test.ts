import { join } from 'node:path';
import Database from 'better-sqlite3';
import t from 'tap';
import { addUser } from '../support/administration/accounts.ts';
import { startTestGateway, type TestScope } from '../support/gateway/gateway.ts';

const path = '/api/login/access-token';
const grace = { username: 'Grace Hopper', password: 'nanoseconds are this long' } as const;
const form = { username: grace.username, password: grace.password };

async function startWithUser(t: TestScope, config?: object) {
  const gateway = await startTestGateway(t, { config });
  const user = await addUser(gateway.folder, { ...grace, scopes: ['store:write', 'store:read'] });
  return { ...gateway, user };
}

t.test('the response to a password sign-in has tokens and must not be stored', async (t) => {
  const { api, user, upstream } = await startWithUser(t);
  const { response, accessToken, cookie } = await api.signIn(grace.username, grace.password);

  t.same(Object.keys(response.json), ['access_token', 'token_type', 'expires_in', 'scope']);
  t.match(response.json, { token_type: 'bearer', expires_in: 600, scope: 'store:read store:write' });
  t.match(response.headers, { 'cache-control': 'no-store', 'content-type': 'application/json' });
  t.match(cookie, /^service_refresh_cookie=[0-9a-f-]{36}\.1\.[\w-]{43}$/);

  t.equal((await api.send({ path: '/api/store/asset', bearer: accessToken })).status, 200);
  t.same(upstream.seen[0]!.values('x-auth-subject'), [user.id]);
});

t.test('a service never signs in, whatever hash its record has', async (t) => {
  const { api, user, folder } = await startWithUser(t);
  const records = new Database(join(folder, 'records.db'));
  records.prepare("UPDATE users SET kind = 'service' WHERE id = ?").run(user.id);
  records.close();
  const response = await api.send({ method: 'POST', path, form });
  t.equal(response.status, 401);
  t.equal(response.json.code, 'invalid_credentials');
});

t.test('a token never outlives its session', async (t) => {
  const sessions = { absolute_lifetime: '5m' };
  const { api, advance } = await startWithUser(t, { sessions });
  const { response, cookie } = await api.signIn(grace.username, grace.password);
  const { expires_in } = response.json;
  t.ok(expires_in >= 299 && expires_in <= 301, `expires_in is ${expires_in}`);
  t.match(response.setCookies[0], /; Max-Age=300;/);

  advance(200_000);
  const refreshed = await api.refresh(cookie);
  t.ok(refreshed.json.expires_in <= 101, `after a while ${refreshed.json.expires_in}`);
});

t.test('the responses to unknown, disabled, over-long and wrong are indistinguishable', async (t) => {
  const { api, folder, logLines } = await startWithUser(t);
  await addUser(folder, { username: 'disabled', password: 'a password of hers', disabled: true });
  const attempts = {
    'an unknown name': { ...form, username: 'nobody at all' },
    'a disabled user, with the right password': { username: 'disabled', password: 'a password of hers' },
    'a wrong password': { ...form, password: 'nanoseconds are that long' },
    'the right password in other letters': { ...form, password: grace.password.toUpperCase() },
    'an over-long password': { ...form, password: 'x'.repeat(5000) },
    'an over-long name': { ...form, username: 'x'.repeat(5000) },
  };
  for (const [title, attempt] of Object.entries(attempts)) {
    const response = await api.send({ method: 'POST', path, form: attempt });
    t.equal(response.status, 401, title);
    t.same(
      { ...response.json, request_id: '' },
      {
        detail: 'Incorrect username or password',
        code: 'invalid_credentials',
        request_id: '',
        error: 'invalid_grant',
        error_description: 'Incorrect username or password',
      },
    );
    t.equal(response.headers['www-authenticate'], 'Bearer realm="acme"');
    t.same(response.setCookies, []);
  }
  t.equal(logLines().filter(({ event }) => event === 'login_failed').length, Object.keys(attempts).length);
});

t.test('a name is found in any case, in compatibility forms and with outer spaces', async (t) => {
  const { api } = await startWithUser(t);
  for (const username of ['GRACE hopper', '  Grace Hopper ', 'Ｇrace Hopper'])
    t.equal((await api.signIn(username, grace.password)).response.status, 200, username);
});

t.test('a password is the same in composed and decomposed letters', async (t) => {
  const { api, folder } = await startTestGateway(t);
  await addUser(folder, { username: 'zoe', password: 'Zoë Zoë Zoë Zoë'.normalize('NFC') });
  t.equal((await api.signIn('zoe', 'Zoë Zoë Zoë Zoë'.normalize('NFD'))).response.status, 200);
});

t.test('a stale or unknown credential attached by an interceptor is ignored', async (t) => {
  const { api } = await startWithUser(t);
  const attached: Record<string, string | string[]>[] = [
    { authorization: 'Bearer long.since.expired' },
    { authorization: 'Basic dXNlcjpwYXNz' },
    { 'x-api-key': 'pst_notakeyatall' },
    { authorization: ['Bearer one', 'Bearer two'], 'x-api-key': 'three' },
  ];
  for (const headers of attached)
    t.equal((await api.send({ method: 'POST', path, form, headers })).status, 200, JSON.stringify(headers));
});

t.test('the path is the same resource with one trailing slash, and another method is 405', async (t) => {
  const { api, upstream } = await startWithUser(t);
  t.equal((await api.send({ method: 'POST', path: `${path}/`, form })).status, 200);
  t.equal((await api.send({ method: 'POST', path: `${path}?username=x`, form })).status, 200);
  for (const method of ['GET', 'PUT', 'DELETE', 'PATCH']) {
    const response = await api.send({ method, path });
    t.equal(response.status, 405, method);
    t.equal(response.headers.allow, 'POST, OPTIONS');
    t.match(response.json, { code: 'method_not_allowed', error: 'invalid_request' });
    t.equal(response.json.error_description, response.json.detail);
  }
  const head = await api.send({ method: 'HEAD', path });
  t.match(head, { status: 405, text: '', headers: { allow: 'POST, OPTIONS' } });
  const options = await api.send({ method: 'OPTIONS', path });
  t.match(options, { status: 204, headers: { allow: 'POST, OPTIONS' } });
  for (const other of [
    '/api/login',
    '/api/login/access-token/x',
    '/api/login/nothing',
    '/api/Login/access-token',
  ])
    t.equal((await api.send({ method: 'POST', path: other, form })).status, 404, other);
  t.equal(upstream.seen.length, 0);
});

t.test('a body over limits.own_body is 413 with the fields of OAuth, announced or not', async (t) => {
  const { api } = await startWithUser(t);
  const body = `username=a&password=${'x'.repeat(65 * 1024)}`;
  const type = { 'content-type': 'application/x-www-form-urlencoded' };
  const announced = await api.send({ method: 'POST', path, body, headers: type });
  t.match(announced, { status: 413, json: { code: 'body_too_large', error: 'invalid_request' } });
  const length = String(body.length);
  const get = await api.send({ method: 'GET', path, headers: { 'content-length': length }, body });
  t.equal(get.status, 405, 'the method is judged before the size');
});
