import { decodeJwt } from 'jose';
import t from 'tap';
import { addUser, changeUser } from '../support/administration/accounts.ts';
import {
  administrator,
  bootstrapToken,
  startTestGateway,
  type TestScope,
} from '../support/gateway/gateway.ts';

const username = 'grace';
const password = 'nanoseconds are this long';

async function startWithUser(t: TestScope, scopes: readonly string[]) {
  const gateway = await startTestGateway(t);
  const user = await addUser(gateway.folder, { username, password, scopes });
  const scopesAsked = (scope?: string) =>
    gateway.api.signIn(username, password, scope === undefined ? {} : { scope });
  return { ...gateway, user, scopesAsked };
}

t.test('a token has the requested scopes that are held, sorted', async (t) => {
  const { scopesAsked } = await startWithUser(t, ['store:write', 'store:read', 'of:yesterday']);
  const everything = 'store:read store:write';
  const rows: [asked: string | undefined, given: string][] = [
    [undefined, everything],
    ['', everything],
    ['   ', everything],
    ['store:write', 'store:write'],
    ['store:write  store:read store:write', everything],
    ['store:read users:write', 'store:read'],
    ['users:write', ''],
    ['of:yesterday', ''],
    ['STORE:READ', ''],
    ['"store:read"', ''],
    ['store:read "', 'store:read'],
  ];
  for (const [asked, given] of rows) {
    const { response, accessToken } = await scopesAsked(asked);
    t.equal(response.json.scope, given, `asked for ${JSON.stringify(asked)}`);
    t.equal(decodeJwt(accessToken).scope, given);
  }
});

t.test('without a restriction a refresh follows what the user gains and loses', async (t) => {
  const { scopesAsked, api, folder, user } = await startWithUser(t, ['store:read']);
  const { cookie } = await scopesAsked();
  await changeUser(folder, user.id, { scopes: ['store:read', 'store:write'] });
  t.equal((await api.refresh(cookie)).json.scope, 'store:read store:write');
  await changeUser(folder, user.id, { scopes: [] });
  t.equal((await api.refresh(cookie)).json.scope, '');
});

t.test('a restriction is remembered, also for scopes that are lost and regained', async (t) => {
  const { scopesAsked, api, folder, user } = await startWithUser(t, ['store:read', 'store:write']);
  const { cookie } = await scopesAsked('store:write users:read');
  await changeUser(folder, user.id, { scopes: ['store:read'] });
  t.equal((await api.refresh(cookie)).json.scope, '');
  await changeUser(folder, user.id, { scopes: ['store:read', 'store:write', 'users:read', 'audit:read'] });
  t.equal((await api.refresh(cookie)).json.scope, 'store:write users:read');
});

t.test("a request for scopes that can't be held is a restriction, not the absence of one", async (t) => {
  const { scopesAsked, api, folder, user } = await startWithUser(t, ['store:read']);
  const { cookie, accessToken } = await scopesAsked('"');
  await changeUser(folder, user.id, { scopes: ['store:read', 'store:write'] });
  t.equal((await api.refresh(cookie)).json.scope, '');
  t.equal((await api.send({ path: '/api/store/asset', bearer: accessToken })).status, 403);
});

t.test('an issued token loses scopes at once with its user', async (t) => {
  const { scopesAsked, api, folder, user } = await startWithUser(t, ['store:read', 'store:write']);
  const { accessToken } = await scopesAsked();
  const write = () => api.send({ method: 'POST', path: '/api/store/asset', bearer: accessToken });
  t.equal((await write()).status, 200);
  await changeUser(folder, user.id, { scopes: ['store:read'] });
  t.equal((await write()).status, 403);
});

t.test('the administrator holds the whole catalogue', async (t) => {
  const { api } = await startTestGateway(t);
  await api.activate(administrator.username, administrator.password, bootstrapToken);
  const { response } = await api.signIn(administrator.username, administrator.password);
  t.equal(
    response.json.scope,
    'apikeys:read apikeys:write audit:read scopesets:read scopesets:write sessions:read sessions:write ' +
      'store:read store:write users:read users:write',
  );
});
