import t, { type Test } from 'tap';
import { addUser, changeUser, withRecords } from '../support/administration/accounts.ts';
import { removeUser } from '../support/administration/record-changes.ts';
import type { ApiResponse } from '../support/clients/api-client.ts';
import { startTestGateway, type TestScope } from '../support/gateway/gateway.ts';

const path = '/api/login/refresh-token';
const username = 'grace';
const password = 'nanoseconds are this long';
const cookieName = 'service_refresh_cookie';
const hourMs = 3_600_000;

async function startSignedIn(t: TestScope, sessions: object = {}) {
  const gateway = await startTestGateway(t, { config: { sessions } });
  const user = await addUser(gateway.folder, { username, password, scopes: ['store:read'] });
  const signedIn = await gateway.api.signIn(username, password);
  return { ...gateway, ...signedIn, user, value: signedIn.cookie.slice(cookieName.length + 1) };
}

function assertRefused(t: Test, response: ApiResponse, title: string): void {
  t.equal(response.status, 401, title);
  t.same(
    { ...response.json, request_id: '' },
    {
      detail: 'Invalid or expired refresh token',
      code: 'invalid_refresh_token',
      request_id: '',
      error: 'invalid_grant',
      error_description: 'Invalid or expired refresh token',
    },
    title,
  );
  t.equal(response.headers['www-authenticate'], 'Bearer realm="acme"', title);
  t.same(response.setCookies, [], `${title}: a refresh never clears the cookie`);
}

t.test('the cookie alone yields a new access token', async (t) => {
  const { api, cookie, accessToken } = await startSignedIn(t);
  const response = await api.refresh(cookie);
  t.equal(response.status, 200);
  t.same(Object.keys(response.json), ['access_token', 'token_type', 'expires_in', 'scope']);
  t.match(response.json, { token_type: 'bearer', expires_in: 600, scope: 'store:read' });
  t.equal(response.headers['cache-control'], 'no-store');
  t.not(response.json.access_token, accessToken);
  for (const bearer of [accessToken, response.json.access_token])
    t.equal((await api.send({ path: '/api/store/x', bearer })).status, 200);
});

t.test('a body, a query and other credentials are ignored', async (t) => {
  const { api, cookie } = await startSignedIn(t);
  const send = (more: object) => api.send({ method: 'POST', path, cookie, ...more });
  t.equal((await send({ json: { refresh_token: 'x' } })).status, 200);
  t.equal((await send({ body: '{', headers: { 'content-type': 'application/json' } })).status, 200);
  t.equal((await send({ bearer: 'stale.access.token' })).status, 200);
  t.equal((await send({ apiKey: 'pst_nothing', bearer: 'stale' })).status, 200);
  t.equal((await send({ path: `${path}/?x=1` })).status, 200);
  t.match(await send({ body: 'x'.repeat(70_000) }), { status: 413, json: { error: 'invalid_request' } });
  t.match(await send({ method: 'GET' }), { status: 405, headers: { allow: 'POST, OPTIONS' } });
});

t.test('a cookie that is missing or malformed is refused', async (t) => {
  const { api, value, cookie, accessToken } = await startSignedIn(t);
  const other = await api.signIn(username, password);
  const [id, generation, mac] = value.split('.');
  const [otherId] = other.cookie.slice(cookieName.length + 1).split('.');
  const last = mac!.at(-1)!;
  const rows: Record<string, string | undefined> = {
    'no cookie': undefined,
    'an empty value': `${cookieName}=`,
    'another name': `${cookieName}2=${value}`,
    'the name in another case': `${cookieName.toUpperCase()}=${value}`,
    'a quoted value': `${cookieName}="${value}"`,
    'an escaped value': `${cookieName}=${value.replaceAll('.', '%2E')}`,
    'another session under this MAC': `${cookieName}=${otherId}.${generation}.${mac}`,
    'another generation under this MAC': `${cookieName}=${id}.2.${mac}`,
    'the generation with a leading zero': `${cookieName}=${id}.01.${mac}`,
    'a shorter MAC': `${cookieName}=${id}.${generation}.${mac!.slice(0, -1)}`,
    'a second spelling of the MAC': `${cookieName}=${id}.${generation}.${mac!.slice(0, -1)}${next(last)}`,
    'the session id in capitals': `${cookieName}=${id!.toUpperCase()}.${generation}.${mac}`,
    'no MAC': `${cookieName}=${id}.${generation}`,
    'an access token': `${cookieName}=${accessToken}`,
    'valid cookies of two sessions': `${cookie}; ${other.cookie}`,
  };
  for (const [title, sent] of Object.entries(rows))
    assertRefused(t, await api.send({ method: 'POST', path, cookie: sent }), title);
  t.equal((await api.refresh(cookie)).status, 200, 'and none of it ended the session');
  t.equal((await api.refresh(other.cookie)).status, 200);
});

t.test('foreign cookies of the same name do not count', async (t) => {
  const { api, cookie } = await startSignedIn(t);
  for (const sent of [
    `${cookieName}=old; ${cookie}`,
    `${cookie}; ${cookieName}=`,
    `${cookie}; ${cookie}`,
    `theme=dark; ${cookie};x=y`,
  ])
    t.equal((await api.refresh(sent)).status, 200, sent.replaceAll(/=[^;]*/g, ''));
});

t.test('cookies of ended sessions do not count beside others', async (t) => {
  const { api, cookie, advance } = await startSignedIn(t);
  const others = [await api.signIn(username, password), await api.signIn(username, password)];
  const all = [others[0]!.cookie, cookie, others[1]!.cookie].join('; ');
  assertRefused(t, await api.refresh(all), 'three live ones');
  advance(60_000);
  const rotated = (await api.refresh(cookie)).setCookies[0]!.split(';', 1)[0]!;
  await api.send({ path: '/api/logout', cookie: others[0]!.cookie });
  assertRefused(t, await api.refresh(`${all}; ${rotated}`), 'two live ones');
  await api.send({ path: '/api/logout', cookie: others[1]!.cookie });
  const response = await api.refresh(`${all}; ${rotated}`);
  t.equal(response.status, 200);
  t.ok(response.setCookies[0]!.startsWith(`${rotated};`), 'the newest of the live session');
  await api.send({ path: '/api/logout', cookie: rotated });
  assertRefused(t, await api.refresh(all), 'none that lives');
});

t.test('a cookie of another tenant or another records store is refused', async (t) => {
  const { api } = await startSignedIn(t);
  const other = await startSignedIn(t);
  assertRefused(t, await api.refresh(other.cookie), 'another store');
  const { api: sameStore } = await startTestGateway(t, {
    folder: other.folder,
    config: { tenant: 'umbrella' },
  });
  const response = await sameStore.refresh(other.cookie);
  t.match(response, { status: 401, json: { code: 'invalid_refresh_token' } });
});

t.test('an unused session ends, and every 200 counts as use', async (t) => {
  const { api, cookie, advance } = await startSignedIn(t, { idle_lifetime: '1h' });
  // Within the grace of sign-in, then by a cookie that rotates, then by the one before.
  advance(0.9 * hourMs);
  const rotated = (await api.refresh(cookie)).setCookies[0]!.split(';', 1)[0]!;
  t.not(rotated, cookie);
  for (let i = 0; i < 3; i++) {
    advance(0.9 * hourMs);
    t.equal((await api.refresh(cookie)).status, 200, 'the one before, its successor never presented');
  }
  advance(1.01 * hourMs);
  assertRefused(t, await api.refresh(rotated), 'after an hour without use');
});

t.test('a session ends at its absolute end, whatever its use', async (t) => {
  const { api, cookie, advance } = await startSignedIn(t, { idle_lifetime: '1h', absolute_lifetime: '2h' });
  let current = cookie;
  for (let i = 0; i < 3; i++) {
    advance(0.6 * hourMs);
    const response = await api.refresh(current);
    t.equal(response.status, 200);
    current = response.setCookies[0]!.split(';', 1)[0]!;
  }
  advance(0.21 * hourMs);
  assertRefused(t, await api.refresh(current), 'after two hours');
});

t.test('a disabled user is refused, and enabling brings no session back', async (t) => {
  const { api, folder, cookie, accessToken, user } = await startSignedIn(t);
  await changeUser(folder, user.id, { disabled: true });
  assertRefused(t, await api.refresh(cookie), 'disabled');
  await changeUser(folder, user.id, { disabled: false });
  assertRefused(t, await api.refresh(cookie), 'enabled again');
  t.equal((await api.send({ path: '/api/store/x', bearer: accessToken })).status, 401);
});

t.test('a removed user is refused', async (t) => {
  const { api, folder, cookie, user } = await startSignedIn(t);
  await withRecords(folder, (records) => removeUser(records, user.id));
  assertRefused(t, await api.refresh(cookie), 'removed');
});

/** Base64url of 32 bytes leaves two bits of its last character without meaning. */
function next(last: string): string {
  const alphabet = 'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_';
  return alphabet[alphabet.indexOf(last) + 1]!;
}
