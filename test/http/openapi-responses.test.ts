import { join } from 'node:path';
import argon2 from 'argon2';
import Database from 'better-sqlite3';
import t, { type Test } from 'tap';
import { type RefusalCode, refusals } from '../../src/errors.ts';
import type { ApiRequest, ApiResponse } from '../support/clients/api-client.ts';
import {
  administrator,
  bootstrapToken,
  startTestGateway,
  type TestGateway,
} from '../support/gateway/gateway.ts';
import { type Browser, startProviderGateway } from '../support/gateway/provider-gateway.ts';
import { codesOf, deviations, documentedOperations } from '../support/pages/documented-operations.ts';

/** A call of an operation; `id` and `query` complete its path. */
type Call = Omit<ApiRequest, 'path'> & { readonly id?: string; readonly query?: string };

/** The documented responses that a call has had: operation, status and, of a refusal, its code. */
const seen = new Set<string>();

/** Calls operations where the document says they are, and holds each response against it. */
function callsOf(t: Test, { api }: Pick<TestGateway, 'api'>) {
  return async (
    operationId: string,
    expected: number | RefusalCode,
    { id = '', query = '', ...sent }: Call = {},
  ): Promise<ApiResponse> => {
    const operation = documentedOperations.get(operationId)!;
    const path = operation.path.replace(/\{\w+\}/, id) + query;
    const response = await api.send({ method: operation.method, ...sent, path });
    const { status, json, text } = response;
    const name = `${operationId} ${status}${status < 400 ? '' : ` ${json?.code}`}`;
    t.equal(typeof expected === 'number' ? status : json?.code, expected, `${operationId}: ${text}`);
    t.strictSame(deviations(operation, response), [], name);
    seen.add(name);
    return response;
  };
}

/** Operations that document a refusal with this code. */
function operationsWith(code: RefusalCode): string[] {
  return [...documentedOperations.values()]
    .filter((operation) => codesOf(operation, refusals[code].status).includes(code))
    .map(({ id }) => id);
}

t.test('real responses match the document', async (t) => {
  const { api, assertion, logoutToken } = await startProviderGateway(
    t,
    { idp: { require: { hd: 'example.com' } } },
    {
      endpoints: { users: 'own', self: 'own' },
      login_throttle: { per_account_and_address: 2 },
      limits: { own_body: '1KiB' },
    },
  );
  const call = callsOf(t, { api });
  const { username, password } = administrator;
  const activation = { token: bootstrapToken, username, password };
  await call('Bootstrap-Activate', 401, { json: { ...activation, token: 'wrong' } });
  await call('Bootstrap-Activate', 422, { json: { ...activation, password: '', more: [1] } });
  t.same((await call('Bootstrap-Activate', 201, { json: activation })).json.username, username);
  await call('Bootstrap-Activate', 409, { json: activation });
  await call('Bootstrap-Activate', 413, { json: { ...activation, more: 'x'.repeat(2000) } });

  const form = { username, password };
  await call('Authentication-Login', 422, { form: { grant_type: 'other' } });
  await call('Authentication-Login', 405, { method: 'PUT', form });
  for (const status of [401, 401, 429])
    await call('Authentication-Login', status, { form: { username: 'nobody', password } });
  const headers = { origin: 'https://evil.example' };
  await call('Authentication-Login', 403, { form, headers });
  await call('Authentication-ExchangeForm', 403, { id: 'idp', headers });
  const signedIn = await call('Authentication-Login', 200, { form });
  let bearer: string = signedIn.json.access_token;
  const cookie = signedIn.setCookies[0]!.split(';', 1)[0]!;
  await call('Authentication-Refresh', 200, { cookie });
  await call('Authentication-Refresh', 401);
  await call('Authentication-Self', 200, { bearer });
  await call('Authentication-Self', 405, { method: 'PUT', bearer });
  await call('Authentication-Jwks', 200);
  await call('Authentication-Jwks', 405, { method: 'DELETE' });
  await call('Authentication-AssertionJwks', 200);
  await call('Authentication-AssertionJwks', 405, { method: 'DELETE' });

  const idp = { id: 'idp' };
  await call('Authentication-Start', 404, { id: 'nobody' });
  await call('Authentication-Start', 422, { ...idp, query: '?return_to=//' });
  const begin = async () => {
    const begun = await call('Authentication-Start', 200, { ...idp, query: '?return_to=/in' });
    const nonce = new URL(begun.json.url).searchParams.get('nonce');
    return { nonce, binding: begun.setCookies[0]!.split(';', 1)[0]! };
  };
  const exchanges = {
    'Authentication-Exchange': (made: string) => ({ query: `?assertion=${made}` }),
    'Authentication-ExchangeForm': (made: string) => ({ form: { assertion: made } }),
  };
  for (const [operationId, sent] of Object.entries(exchanges)) {
    const { nonce, binding } = await begin();
    await call(operationId, 404, { id: 'nobody', ...sent('a') });
    await call(operationId, 422, idp);
    await call(operationId, 401, { ...idp, ...sent('a') });
    const elsewhere = sent(assertion({ nonce, hd: 'example.org' }));
    await call(operationId, 403, { ...idp, ...elsewhere, cookie: binding });
    const good = sent(assertion({ nonce, hd: 'example.com' }));
    await call(operationId, 200, { ...idp, ...good, cookie: binding });
  }

  const logout = 'Authentication-BackChannelLogout';
  await call(logout, 404, { id: 'nobody', form: { logout_token: 'a' } });
  await call(logout, 400, { ...idp, form: { logout_token: 'a' } });
  await call(logout, 200, { ...idp, form: { logout_token: logoutToken() } });

  const wanted = { label: 'ci', scopes: ['apikeys:read', 'apikeys:write'], scope_sets: [] };
  const created = (await call('ApiKeys-Create', 201, { bearer, json: wanted })).json;
  const { id, key: apiKey } = created;
  await call('ApiKeys-Create', 201, {
    bearer,
    query: '?hydrate=false',
    json: { ...wanted, scope_sets: ['administrator'] },
  });
  await call('ApiKeys-Create', 422, { bearer, json: { label: '', expires: 'never' } });
  await call('ApiKeys-Create', 403, { apiKey, json: { label: 'more', scopes: ['store:read'] } });
  const short = {
    ...wanted,
    scopes: ['apikeys:write'],
    expires: new Date(Date.now() + 60_000).toISOString(),
  };
  const shortLived = (await call('ApiKeys-Create', 201, { apiKey, json: short })).json.key;
  const longer = await call('ApiKeys-Create', 403, { apiKey: shortLived, json: { ...short, expires: null } });
  t.equal(longer.json.code, 'expiry_exceeds_caller');

  const page = (await call('ApiKeys-List', 200, { bearer, query: '?size=1' })).json;
  await call('ApiKeys-List', 200, { bearer, query: `?size=1&cursor=${page.next_page}&hydrate=no` });
  await call('ApiKeys-List', 400, { bearer, query: '?cursor=made-up' });
  await call('ApiKeys-List', 422, { bearer, query: '?size=0&nope=1' });
  await call('ApiKeys-Filters', 200, { bearer });
  await call('ApiKeys-Scopes', 200, { bearer });
  await call('ApiKeys-Scopes', 200, { bearer, query: '?hydrate=true' });
  await call('ApiKeys-Scopes', 422, { bearer, query: '?hydrate=perhaps' });
  await call('ApiKeys-Routes', 200, { bearer });
  await call('ApiKeys-Read', 200, { bearer, id });
  await call('ApiKeys-Read', 200, { bearer, id, query: '?hydrate=false' });
  await call('ApiKeys-Read', 404, { bearer, id: 'nobody' });
  await call('ApiKeys-Read', 422, { bearer, id, query: '?hydrate=perhaps' });
  await call('ApiKeys-Delete', 422, { bearer, id, query: '?children=perhaps' });
  await call('ApiKeys-Delete', 404, { bearer, id: 'nobody' });
  await call('ApiKeys-Delete', 412, { bearer, id, headers: { 'if-match': '"999"' } });

  const events = (await call('Audit-List', 200, { bearer, query: '?size=1' })).json;
  await call('Audit-List', 400, { bearer, query: '?cursor=made-up' });
  await call('Audit-List', 422, { bearer, query: '?size=0' });
  await call('Audit-Filters', 200, { bearer });
  await call('Audit-Read', 200, { bearer, id: events.items[0].id });
  await call('Audit-Read', 404, { bearer, id: 'nobody' });

  const stale = { headers: { 'if-match': '"999"' } };
  const team = { name: 'team', description: 'Readers', scopes: ['store:read'] };
  const set = (await call('ScopeSets-Create', 201, { bearer, json: team })).json;
  await call('ScopeSets-Create', 409, { bearer, json: team });
  await call('ScopeSets-Create', 422, { bearer, json: { name: '' } });
  const person = { username: 'grace', password: 'correct horse battery', scopes: [], scope_sets: [set.id] };
  const user = (await call('Users-Create', 201, { bearer, json: person })).json;
  await call('Users-Create', 409, { bearer, json: person });
  await call('Users-Create', 422, { bearer, json: { username: '' } });
  for (const [name, one, changed] of [
    ['ScopeSets', set.id, { description: 'Those who read' }],
    ['Users', user.id, { display_name: 'Grace' }],
  ] as const) {
    await call(`${name}-List`, 200, { bearer, query: '?size=1' });
    await call(`${name}-List`, 400, { bearer, query: '?cursor=made-up' });
    await call(`${name}-List`, 422, { bearer, query: '?size=0' });
    await call(`${name}-Filters`, 200, { bearer });
    await call(`${name}-Read`, 200, { bearer, id: one });
    await call(`${name}-Change`, 200, { bearer, id: one, json: changed });
    await call(`${name}-Change`, 412, { bearer, id: one, json: changed, ...stale });
    await call(`${name}-Change`, 422, { bearer, id: one, json: { nope: 1 } });
    await call(`${name}-Delete`, 412, { bearer, id: one, ...stale });
    await call(`${name}-Read`, 404, { bearer, id: 'nobody' });
    await call(`${name}-Change`, 404, { bearer, id: 'nobody', json: changed });
    await call(`${name}-Delete`, 404, { bearer, id: 'nobody' });
  }
  await call('ScopeSets-Change', 409, { bearer, id: 'administrator', json: { description: 'All' } });
  await call('ScopeSets-Delete', 'in_use', { bearer, id: set.id });
  await call('ScopeSets-Delete', 'conflict', { bearer, id: 'administrator' });
  const [{ id: firstId }] = (await call('Users-List', 200, { bearer, query: '?username__eq=ada' })).json
    .items;
  await call('Users-Change', 'last_administrator', { bearer, id: firstId, json: { disabled: true } });
  await call('Users-Change', 'conflict', { bearer, id: user.id, json: { username } });
  await call('Users-Delete', 409, { bearer, id: firstId });
  const identity = { provider: 'idp', subject: 'grace-1' };
  const identityQuery = '?provider=idp&subject=grace-1';
  await call('Users-Link', 201, { bearer, id: firstId, json: identity });
  const everything = { label: 'all', scopes: [], scope_sets: ['administrator'] };
  const ownKey = (await call('ApiKeys-Create', 201, { bearer, json: everything })).json.key;
  await call('Users-Change', 200, { bearer, id: firstId, json: { password: null } });
  await call('Users-Unlink', 409, { apiKey: ownKey, id: firstId, query: identityQuery });
  await call('Users-Change', 200, { apiKey: ownKey, id: firstId, json: { password } });
  await call('Users-Unlink', 204, { apiKey: ownKey, id: firstId, query: identityQuery });
  bearer = (await call('Authentication-Login', 200, { form })).json.access_token;
  await call('Users-Delete', 422, { bearer, id: user.id, query: '?keys=perhaps' });

  await call('Users-Link', 404, { bearer, id: 'nobody', json: identity });
  await call('Users-Link', 422, { bearer, id: user.id, json: { provider: 'other' } });
  await call('Users-Link', 201, { bearer, id: user.id, json: identity });
  await call('Users-Link', 409, { bearer, id: user.id, json: identity });
  await call('Users-Identities', 404, { bearer, id: 'nobody' });
  await call('Users-Identities', 200, { bearer, id: user.id });
  await call('Users-Unlink', 422, { bearer, id: user.id, query: '?provider=idp' });
  await call('Users-Unlink', 204, { bearer, id: user.id, query: identityQuery });
  await call('Users-Unlink', 404, { bearer, id: user.id, query: identityQuery });
  for (const [operationId, good] of [
    ['Users-Throttle', 200],
    ['Users-Unlock', 204],
  ] as const) {
    await call(operationId, 404, { bearer, id: 'nobody' });
    await call(operationId, good, { bearer, id: user.id });
  }
  const unknown = { bearer, query: '?nope=1' };
  for (const operationId of ['Users-Identities', 'Users-Unlock', 'Users-Invite'])
    await call(operationId, 422, { ...unknown, id: user.id });
  await call('ScopeSets-Delete', 422, { ...unknown, id: set.id });
  for (const operationId of ['Sessions-DeleteOwn', 'Sessions-Delete'])
    await call(operationId, 422, { ...unknown, id: 'nobody' });
  const ofUser = { label: 'hers', scopes: ['store:read'] };
  await call('Users-CreateKey', 404, { bearer, id: 'nobody', json: ofUser });
  await call('Users-CreateKey', 422, { bearer, id: user.id, json: {} });
  await call('Users-CreateKey', 201, { bearer, id: user.id, json: ofUser });
  const off = { username: 'off', disabled: true, scopes: ['store:read'] };
  const { id: disabled } = (await call('Users-Create', 201, { bearer, json: off })).json;
  await call('Users-CreateKey', 'conflict', { bearer, id: disabled, json: ofUser });
  const forUsers = { ...short, scopes: ['apikeys:write', 'users:write', 'store:read'], scope_sets: [set.id] };
  const ending = (await call('ApiKeys-Create', 201, { bearer, json: forUsers })).json;
  const endless = { ...ofUser, expires: null };
  await call('Users-CreateKey', 'expiry_exceeds_caller', { apiKey: ending.key, id: user.id, json: endless });
  await call('ApiKeys-Delete', 204, { bearer, id: ending.id });
  await call('Users-Invite', 404, { bearer, id: 'nobody' });
  const token = (await call('Users-Invite', 201, { bearer, id: user.id })).json.token;
  const redemption = { token, password: 'a password of her own' };
  await call('Authentication-RedeemInvitation', 422, { json: { token } });
  await call('Authentication-RedeemInvitation', 204, { json: redemption });
  await call('Authentication-RedeemInvitation', 401, { json: redemption });
  const robot = { username: 'robot', kind: 'service' };
  const service = (await call('Users-Create', 201, { bearer, json: robot })).json;
  await call('Users-Invite', 409, { bearer, id: service.id });
  const { accessToken: anotherSession } = await api.signIn(username, password);
  const sessions = (await call('Sessions-List', 200, { bearer, query: `?user__eq=${firstId}` })).json.items;
  const [other, first] = sessions;
  await call('Sessions-List', 400, { bearer, query: '?cursor=made-up' });
  await call('Sessions-List', 422, { bearer, query: '?last_used__gt=2026-01-01T00:00:00Z' });
  await call('Sessions-Filters', 200, { bearer });
  await call('Sessions-Read', 200, { bearer, id: first.id });
  await call('Sessions-Read', 200, { bearer, id: first.id, query: '?hydrate=false' });
  await call('Sessions-Read', 404, { bearer, id: 'nobody' });
  await call('Sessions-Read', 422, { bearer, id: first.id, query: '?hydrate=perhaps' });
  await call('Sessions-ListOwn', 200, { bearer });
  await call('Sessions-ListOwn', 400, { bearer, query: '?cursor=made-up' });
  await call('Sessions-ListOwn', 422, { bearer, query: '?user__eq=me' });
  await call('Sessions-FiltersOwn', 200, { bearer });
  await call('Sessions-DeleteOwn', 404, { bearer, id: 'nobody' });
  await call('Sessions-DeleteOwn', 204, { bearer: anotherSession, id: other.id });
  const ofOne = { current_password: password, new_password: `${password}, another` };
  const wrong = { ...ofOne, current_password: 'not the password' };
  await call('Sessions-ChangePassword', 422, { bearer, json: { ...ofOne, new_password: 'short' } });
  await call('Sessions-ChangePassword', 403, { bearer, json: wrong });
  await call('Sessions-ChangePassword', 204, { bearer, json: ofOne });
  const back = { current_password: ofOne.new_password, new_password: password };
  await call('Sessions-ChangePassword', 204, { bearer, json: back });
  await call('Sessions-DeleteOthers', 422, { bearer });
  await call('Sessions-DeleteOthers', 204, { bearer, query: '?others=true' });
  await call('Sessions-Delete', 404, { bearer, id: 'nobody' });
  const { accessToken: third } = await api.signIn(username, password);
  const [{ id: thirdId }] = (await call('Sessions-ListOwn', 200, { bearer: third })).json.items;
  await call('Sessions-Delete', 204, { bearer, id: thirdId });
  await call('Sessions-DeleteAll', 422, { bearer });
  await call('Sessions-DeleteAll', 204, { bearer, query: '?user=nobody' });

  const powerless = (await api.mintKey(bearer, { label: 'none', scopes: ['store:read'] })).key;
  for (const operationId of operationsWith('invalid_token')) {
    await call(operationId, 'ambiguous_credentials', { bearer, apiKey, id });
    await call(operationId, 'not_authenticated', { id });
    await call(operationId, 'invalid_token', { bearer: 'made-up', id });
    await call(operationId, 'invalid_api_key', { apiKey: 'made-up', id });
    // The caller is shown to anyone.
    const rightless = operationId === 'Authentication-Self' ? 200 : 403;
    await call(operationId, rightless, { apiKey: powerless, id });
  }
  await call('ApiKeys-Delete', 204, { bearer, id, query: '?children=true' });
  await call('Users-Delete', 204, { bearer, id: user.id });
  await call('ScopeSets-Delete', 204, { bearer, id: set.id });

  await call('Authentication-Logout', 'ambiguous_credentials', { bearer, apiKey: powerless });
  await call('Authentication-Logout', 'not_authenticated');
  await call('Authentication-Logout', 'invalid_api_key', { apiKey: 'made-up' });
  await call('Authentication-Logout', 'session_required', { apiKey: powerless });
  await call('Authentication-Logout', 'prefetch', { bearer, headers: { 'sec-purpose': 'prefetch' } });
  for (const code of ['wrong_password', 'too_many_attempts'] as const)
    await call('Sessions-ChangePassword', code, { bearer, json: wrong });
  await call('Authentication-Logout', 200, { bearer, cookie });
});

t.test('so do those of another configuration', async (t) => {
  const { username, password } = administrator;
  const activation = { token: bootstrapToken, username, password };
  const wrongToken = { ...activation, token: 'wrong' };
  const strict = { login_throttle: { per_address: 1 }, sessions: { cookie: { same_site: 'none' } } };
  const call = callsOf(t, await startTestGateway(t, { config: strict }));
  await call('Bootstrap-Activate', 201, { json: activation });
  const form = { username, password };
  const { setCookies } = await call('Authentication-Login', 200, { form });
  const cookie = setCookies[0]!.split(';', 1)[0]!;
  await call('Authentication-Refresh', 'cross_site', { cookie, headers: { origin: 'https://evil.example' } });
  for (const code of ['invalid_invitation', 'too_many_attempts'] as const)
    await call('Authentication-RedeemInvitation', code, { json: { token: 'wrong', password } });
  const fresh = callsOf(t, await startTestGateway(t, { config: strict }));
  for (const code of ['invalid_bootstrap_token', 'too_many_attempts'] as const)
    await fresh('Bootstrap-Activate', code, { json: wrongToken });
});

t.test('so do those about what the configuration keeps', async (t) => {
  const { username, password } = administrator;
  const gateway = await startTestGateway(t, {
    config: {
      endpoints: { users: 'own' },
      identity_providers: { idp: { issuer: 'https://idp.example.com', client_id: 'postern' } },
      web: { path: '/postern' },
      users: { grace: { password_hash: await argon2.hash(password, { memoryCost: 64, timeCost: 1 }) } },
      scope_sets: { readers: { scopes: ['store:read'] } },
    },
  });
  const call = callsOf(t, gateway);
  const activation = { token: bootstrapToken, username, password };
  await call('Bootstrap-Activate', 'conflict', { json: { ...activation, username: 'grace' } });
  await call('Bootstrap-Activate', 201, { json: activation });
  const bearerOf = async (name: string) =>
    (await call('Authentication-Login', 200, { form: { username: name, password } })).json.access_token;
  const bearer = await bearerOf(username);
  const [{ id }] = (await call('Users-List', 200, { bearer, query: '?username__eq=grace' })).json.items;
  const [{ id: set }] = (await call('ScopeSets-List', 200, { bearer, query: '?name__eq=readers' })).json
    .items;
  const identity = { provider: 'idp', subject: 'grace-1' };
  await call('Users-Change', 'managed', { bearer, id, json: { display_name: 'G' } });
  await call('Users-Delete', 'managed', { bearer, id });
  await call('Users-Link', 'managed', { bearer, id, json: identity });
  await call('Users-Invite', 'managed', { bearer, id });
  await call('ScopeSets-Change', 'managed', { bearer, id: set, json: { description: 'All' } });
  await call('ScopeSets-Delete', 'managed', { bearer, id: set });
  const json = { current_password: password, new_password: `${password}, another` };
  await call('Sessions-ChangePassword', 'managed', { bearer: await bearerOf('grace'), json });
});

t.test('so do those without stores, or without a provider', async (t) => {
  const { username, password } = administrator;
  const gone = 'http://127.0.0.1:9';
  const gateway = await startProviderGateway(
    t,
    { idp: {}, gone: { issuer: gone } },
    { endpoints: { users: 'own' } },
  );
  const { begin, assertion, logoutToken } = gateway;
  const call = callsOf(t, gateway);
  const elsewhere = { id: 'gone', query: `?assertion=${assertion({ iss: gone })}` };
  await call('Authentication-Start', 'provider_unavailable', { id: 'gone' });
  await call('Authentication-Exchange', 'provider_unavailable', elsewhere);
  const form = { assertion: assertion({ iss: gone }) };
  await call('Authentication-ExchangeForm', 'provider_unavailable', { id: 'gone', form });
  const logout = { id: 'gone', form: { logout_token: logoutToken({ iss: gone }) } };
  await call('Authentication-BackChannelLogout', 'provider_unavailable', logout);

  const activation = { token: bootstrapToken, username, password };
  await call('Bootstrap-Activate', 201, { json: activation });
  const signedIn = await call('Authentication-Login', 200, { form: { username, password } });
  const bearer: string = signedIn.json.access_token;
  const browser: Browser = {};
  const { nonce } = await begin(browser);
  const made = assertion({ nonce });
  for (const file of ['records.db', 'sessions.db']) takeTablesAway(t, join(gateway.folder, file));
  const open: Record<string, Call> = {
    'Authentication-Login': { form: { username, password } },
    'Authentication-Refresh': { cookie: signedIn.setCookies[0]!.split(';', 1)[0]! },
    'Authentication-RedeemInvitation': { json: { token: 'any', password } },
    'Bootstrap-Activate': { json: activation },
    'Authentication-Exchange': { id: 'idp', query: `?assertion=${made}`, ...browser },
    'Authentication-ExchangeForm': { id: 'idp', form: { assertion: made }, ...browser },
    'Authentication-BackChannelLogout': { id: 'idp', form: { logout_token: logoutToken() } },
  };
  for (const operationId of operationsWith('store_unavailable'))
    await call(operationId, 'store_unavailable', open[operationId] ?? { bearer, id: 'any' });
});

/** Renames every table of a store's file, as another process could. */
function takeTablesAway(t: Test, file: string): void {
  const db = new Database(file);
  t.teardown(() => db.close());
  db.pragma('legacy_alter_table = ON');
  const tables = db.prepare(
    "SELECT name FROM sqlite_schema WHERE type = 'table' AND name NOT LIKE 'sqlite_%'",
  );
  for (const { name } of tables.all() as { name: string }[])
    db.exec(`ALTER TABLE ${name} RENAME TO ${name}_away`);
}

t.test('every documented response, by its code, has had a call', async (t) => {
  const documented = [...documentedOperations.values()].flatMap((operation) =>
    Object.entries(operation.responses).flatMap(([status, { $ref }]) => {
      if ($ref !== undefined) return [];
      const codes = status === '422' ? ['validation_error'] : codesOf(operation, Number(status));
      return codes.length === 0
        ? [`${operation.id} ${status}`]
        : codes.map((code) => `${operation.id} ${status} ${code}`);
    }),
  );
  const unseen = documented.filter((one) => !seen.has(one));
  // The one asks for a load, as in test/http/hashing-queue; the other for a user whom the configuration adopted.
  t.strictSame(
    unseen.filter((one) => !one.endsWith(' 503 overloaded')),
    ['Users-Unlink 409 managed'],
  );
});
