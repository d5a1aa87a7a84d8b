import t from 'tap';
import { startUserAdministration } from '../support/administration/user-administration.ts';
import { bootstrapToken } from '../support/gateway/gateway.ts';
import { documentedOperations } from '../support/pages/documented-operations.ts';

const unknown = (name: string, input: unknown) => ({
  type: 'extra_forbidden',
  loc: ['query', name],
  msg: 'Extra inputs are not permitted',
  input,
});

t.test('lists, writes and deletes take no query parameter that they do not know', async (t) => {
  const { api, asAdministrator, create, mint, users } = await startUserAdministration(t);
  const user = await create('grace');
  const key = await mint({ scopes: ['store:read'] });
  const set = await api.send({
    method: 'POST',
    path: '/api/admin/scope-sets/',
    json: { name: 'readers', scopes: ['store:read'] },
    ...asAdministrator,
  });
  const sessions = await api.send({ path: '/api/self/sessions', ...asAdministrator });
  const ids: Readonly<Record<string, string>> = {
    ApiKeys: key.id,
    ScopeSets: set.json.id,
    Sessions: sessions.json.items[0].id,
    Users: user.id,
  };
  // Two paths are open to everyone, and look at their token first.
  const invitation = (await users('POST', `${user.id}/invitation`)).json.token;
  const tokens: Readonly<Record<string, string>> = {
    'Authentication-RedeemInvitation': invitation,
    'Bootstrap-Activate': bootstrapToken,
  };
  let asked = 0;
  for (const { id: operationId, method, path } of documentedOperations.values()) {
    const tag = operationId.slice(0, operationId.indexOf('-'));
    const isOfContract = tag in ids || tag === 'Audit' || operationId in tokens;
    const isList = /-(?:List|ListOwn|Identities)$/.test(operationId);
    if (!isOfContract || (method === 'GET' && !isList)) continue;
    const hasBody = method === 'POST' || method === 'PUT' || method === 'PATCH';
    const response = await api.send({
      method,
      path: `${path.replace('{id}', ids[tag] ?? '')}?size_=1&nope=a&nope=b`,
      ...(hasBody && { json: { nope: true, token: tokens[operationId] } }),
      ...(!(operationId in tokens) && asAdministrator),
    });
    t.equal(response.status, 422, operationId);
    const problems = response.json.detail ?? [];
    const inQuery = problems.filter(({ loc }: any) => loc[0] === 'query');
    t.strictSame(problems.slice(0, inQuery.length), inQuery, `${operationId}: the query before the body`);
    t.strictSame(
      inQuery.slice(-2),
      [unknown('size_', '1'), unknown('nope', ['a', 'b'])],
      `${operationId}: what it knows first`,
    );
    if (hasBody && operationId !== 'Users-Invite')
      t.ok(problems.length > inQuery.length, `${operationId}: together with the problems of the body`);
    asked += 1;
  }
  t.ok(asked >= 26, `${asked} operations`);
  t.equal((await users('GET', user.id)).status, 200, 'nothing was done');
});

t.test('a misspelt parameter destroys nothing', async (t) => {
  const { api, asAdministrator, create, users, call, signInAs } = await startUserAdministration(t);
  const { id } = await create('grace', { scopes: ['apikeys:write', 'store:read'] });
  const hers = await users('POST', `${id}/api-keys`, { label: 'hers', scopes: ['store:read'] });
  const refused = await users('DELETE', `${id}?key=keep`);
  t.match(refused, { status: 422, json: { code: 'validation_error', detail: [{ loc: ['query', 'key'] }] } });
  t.equal((await call('GET', hers.json.id)).status, 200);
  t.equal((await users('DELETE', `${id}?keys=keep&keys=delete`)).status, 422, 'nor one that is repeated');
  t.equal((await signInAs('grace')).bearer === '', false);
  t.equal((await users('DELETE', `${id}?keys=keep&nope=`)).status, 204, 'a blank one counts as absent');
  t.equal((await call('GET', hers.json.id)).status, 200);

  const admin = '/api/admin/sessions/';
  const deletion = (path: string) => api.send({ method: 'DELETE', path, ...asAdministrator });
  const locsOf = (json: any) => json.detail.map(({ type, loc }: any) => [type, ...loc]);
  t.strictSame(locsOf((await deletion(`${admin}?usr=${id}`)).json), [
    ['missing', 'query', 'user'],
    ['extra_forbidden', 'query', 'usr'],
  ]);
  t.strictSame(locsOf((await deletion(`${admin}?user=${id}&all=true&x=1`)).json), [
    ['value_error', 'query', 'all'],
    ['extra_forbidden', 'query', 'x'],
  ]);
  t.strictSame(locsOf((await deletion('/api/self/sessions/?others=false&x=1')).json), [
    ['value_error', 'query', 'others'],
    ['extra_forbidden', 'query', 'x'],
  ]);
});

t.test('other reads ignore what they do not know', async (t) => {
  const { api, asAdministrator, administratorId, mint } = await startUserAdministration(t);
  const { id } = await mint({ scopes: ['store:read'] });
  for (const path of [`api-keys/${id}`, 'api-keys/scopes', 'api-keys/filters', `users/${administratorId}`])
    t.equal((await api.send({ path: `/api/admin/${path}?nope=1`, ...asAdministrator })).status, 200, path);
});

t.test('a value that is no way to remove the keys is shown', async (t) => {
  const { create, users } = await startUserAdministration(t);
  const { id } = await create('grace');
  for (const keys of ['perhaps', `transfer:${id}`]) {
    const { status, json } = await users('DELETE', `${id}?keys=${keys}`);
    t.equal(status, 422);
    t.match(json.detail, [{ loc: ['query', 'keys'], input: keys }]);
  }
});
