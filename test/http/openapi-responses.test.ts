import t from 'tap';
import type { ApiRequest, ApiResponse } from '../support/clients/api-client.ts';
import { administrator, bootstrapToken } from '../support/gateway/gateway.ts';
import { startProviderGateway } from '../support/gateway/provider-gateway.ts';
import { deviations, documentedOperations } from '../support/pages/documented-operations.ts';

/** A call of an operation; `id` and `query` complete its path. */
type Call = Omit<ApiRequest, 'path'> & { readonly id?: string; readonly query?: string };

t.test('real responses match the document', async (t) => {
  const { api, assertion, logoutToken } = await startProviderGateway(
    t,
    { idp: { require: { hd: 'example.com' } } },
    {
      endpoints: { users: 'own' },
      login_throttle: { per_account_and_address: 2 },
      limits: { own_body: '1KiB' },
    },
  );
  const seen = new Set<string>();

  /** Calls an operation where the document says it is, and holds the response against it. */
  async function call(operationId: string, status: number, { id = '', query = '', ...sent }: Call = {}) {
    const operation = documentedOperations.get(operationId)!;
    const path = operation.path.replace(/\{\w+\}/, id) + query;
    const response: ApiResponse = await api.send({ method: operation.method, ...sent, path });
    t.equal(response.status, status, `${operationId}: ${response.text}`);
    t.strictSame(deviations(operation, response), [], `${operationId} ${status}`);
    seen.add(`${operationId} ${status}`);
    return response;
  }

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
  await call('ScopeSets-Delete', 409, { bearer, id: set.id });
  const [{ id: firstId }] = (await call('Users-List', 200, { bearer, query: '?username__eq=ada' })).json
    .items;
  await call('Users-Change', 409, { bearer, id: firstId, json: { disabled: true } });
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
  await call('Users-CreateKey', 409, { bearer, id: disabled, json: ofUser });
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
  for (const { id: operationId, responses } of documentedOperations.values()) {
    if (!/^(?:ApiKeys|Audit|ScopeSets|Sessions|Users)-/.test(operationId)) continue;
    t.ok(responses[403]);
    await call(operationId, 400, { bearer, apiKey, id });
    await call(operationId, 401, { id });
    await call(operationId, 401, { bearer: 'made-up', id });
    await call(operationId, 401, { apiKey: 'made-up', id });
    await call(operationId, 403, { apiKey: powerless, id });
  }
  await call('ApiKeys-Delete', 204, { bearer, id, query: '?children=true' });
  await call('Users-Delete', 204, { bearer, id: user.id });
  await call('ScopeSets-Delete', 204, { bearer, id: set.id });

  await call('Authentication-Logout', 400, { bearer, apiKey: powerless });
  await call('Authentication-Logout', 401);
  await call('Authentication-Logout', 401, { apiKey: 'made-up' });
  await call('Authentication-Logout', 403, { apiKey: powerless });
  await call('Authentication-Logout', 403, { bearer, headers: { 'sec-purpose': 'prefetch' } });
  await call('Authentication-Logout', 200, { bearer, cookie });

  const documented = [...documentedOperations.values()].flatMap(({ id: operationId, responses }) =>
    Object.keys(responses).map((status) => `${operationId} ${status}`),
  );
  const unseen = documented.filter((one) => !seen.has(one) && !/ (?:503|default)$/.test(one));
  // The one asks for another configuration of the cookie, the others for a hundred failures of one address, or a managed
  // user.
  t.strictSame(unseen, [
    'Authentication-Refresh 403',
    'Authentication-RedeemInvitation 429',
    'Bootstrap-Activate 429',
    'Sessions-ChangePassword 409',
    'Sessions-ChangePassword 429',
  ]);
});
