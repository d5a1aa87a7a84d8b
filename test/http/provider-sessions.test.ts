import { join } from 'node:path';
import Database from 'better-sqlite3';
import t from 'tap';
import { addUser, changeUser } from '../support/administration/accounts.ts';
import { startTestGateway } from '../support/gateway/gateway.ts';
import {
  type Browser,
  refreshCookieOf,
  startProviderGateway,
  subjectOf,
} from '../support/gateway/provider-gateway.ts';

const asset = { path: '/api/asset' };
const grants = [{ claim: 'groups', value: 'staff', scopes: ['store:read'] }];
const staff = { groups: ['staff'] };

t.test('a session from a provider equals one from a password', async (t) => {
  const { signIn, api, folder, upstream } = await startProviderGateway(t, { idp: { grants } });
  const byProvider = await signIn(staff);
  const { id } = await addUser(folder, {
    username: 'local',
    password: 'nanoseconds are this long',
    scopes: ['store:read'],
  });
  const byPassword = (await api.signIn('local', 'nanoseconds are this long')).response;
  const namesOf = async (bearer: string) => {
    await api.send({ ...asset, bearer });
    const names = upstream.seen.at(-1)!.rawHeaders.filter((_, index) => index % 2 === 0);
    return names.filter((name) => name.startsWith('X-Auth-'));
  };
  const tokenOf = (bearer: string) => {
    const { sub, sid, jti, iat, exp, ...rest } = JSON.parse(
      Buffer.from(bearer.split('.')[1]!, 'base64url').toString(),
    );
    return rest;
  };
  const [one, other] = [byProvider, byPassword].map(({ json }) => json.access_token);
  t.same(await namesOf(one), await namesOf(other));
  t.same(tokenOf(one), tokenOf(other));
  t.equal(
    byProvider.setCookies[0]!.replace(/=[^;]+/, ''),
    byPassword.setCookies[0]!.replace(/=[^;]+/, ''),
    'attributes and life of the cookie',
  );
  const sessions = new Database(join(folder, 'sessions.db'), { readonly: true });
  const rows = sessions.prepare('SELECT user_id, method, scope, address FROM sessions').all();
  sessions.close();
  t.same(rows, [
    { user_id: subjectOf(byProvider), method: 'idp', scope: null, address: '127.0.0.1' },
    { user_id: id, method: 'password', scope: null, address: '127.0.0.1' },
  ]);
});

t.test('it is refreshed, rotates, and detects reuse', async (t) => {
  const { signIn, api, advance } = await startProviderGateway(t, { idp: { grants } });
  const first = await signIn(staff);
  const cookie = refreshCookieOf(first);
  t.match(await api.refresh(cookie), { status: 200, json: { scope: 'store:read' } });
  advance(31_000);
  const rotated = await api.refresh(cookie);
  const next = refreshCookieOf(rotated);
  t.not(next, cookie);
  advance(31_000);
  t.equal((await api.refresh(next)).status, 200);
  advance(31_000);
  t.equal((await api.refresh(cookie)).status, 401, 'an older one is reuse');
  t.equal((await api.send({ ...asset, bearer: first.json.access_token })).status, 401);
});

t.test('signing out ends it', async (t) => {
  const { signIn, api } = await startProviderGateway(t);
  const response = await signIn();
  const bearer = response.json.access_token;
  const cookie = refreshCookieOf(response);
  t.equal((await api.send({ path: '/api/logout', bearer, cookie })).status, 200);
  t.equal((await api.send({ ...asset, bearer })).status, 401);
  t.equal((await api.refresh(cookie)).status, 401);
});

t.test('a refresh carries what the provider grants now, and none for a disabled user', async (t) => {
  const { signIn, api, folder } = await startProviderGateway(t, { idp: { grants } });
  const response = await signIn(staff);
  const cookie = refreshCookieOf(response);
  await signIn({ groups: [] });
  t.match(await api.refresh(cookie), { status: 200, json: { scope: '' } });
  await changeUser(folder, subjectOf(response), { disabled: true });
  t.match(await api.refresh(cookie), { status: 401, json: { code: 'invalid_refresh_token' } });
});

t.test('a start survives a restart, and what was used stays used', async (t) => {
  const { begin, assertion, exchange, folder, stub, stop } = await startProviderGateway(t);
  const browser: Browser = {};
  const used = await begin(browser);
  const open = await begin(browser);
  const usedAssertion = assertion({ nonce: used.nonce });
  t.equal((await exchange(browser, usedAssertion)).status, 200);
  await stop();
  const idp = {
    issuer: stub.origin,
    client_id: 'postern',
    redirect_uri: 'https://acme.example.com/signed-in',
  };
  const again = await startTestGateway(t, { folder, config: { identity_providers: { idp } } });
  const exchangeAgain = (made: string) =>
    again.api.send({
      path: `/api/login/idp/exchange?assertion=${made}`,
      cookie: browser.cookie,
    });
  t.equal((await exchangeAgain(usedAssertion)).status, 401);
  t.equal((await exchangeAgain(assertion({ nonce: open.nonce }))).status, 200);
});

t.test('a session keeps who signed in there, and no ID token', async (t) => {
  const { signIn, stub, folder } = await startProviderGateway(t);
  const wrong = { number: 7, long: 'x'.repeat(256), blank: '', half: '\ud800' };
  await signIn({ sid: 'there' });
  for (const sid of [undefined, ...Object.values(wrong)]) await signIn({ sub: 'alice-2', sid });
  const sessions = new Database(join(folder, 'sessions.db'), { readonly: true });
  const rows = sessions
    .prepare(
      'SELECT provider_issuer, provider_subject, provider_sid, id_token FROM sessions ORDER BY created, id',
    )
    .raw()
    .all();
  sessions.close();
  t.same(rows, [
    [stub.origin, 'alice-1', 'there', null],
    ...Array(5).fill([stub.origin, 'alice-2', null, null]),
  ]);
});
