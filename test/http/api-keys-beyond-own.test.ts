import t from 'tap';
import { addUser, changeUser } from '../support/administration/accounts.ts';
import { startKeyAdministration } from '../support/administration/key-administration.ts';
import { addScopeSet } from '../support/administration/scope-sets.ts';
import { administrator } from '../support/gateway/gateway.ts';

const bea = { username: 'bea', password: 'another horse battery' };
const hourMs = 3_600_000;
const inHours = (hours: number) => new Date(Date.now() + hours * hourMs).toISOString();

t.test('no key exceeds what the calling credential holds now', async (t) => {
  const { api, folder, ask, mint } = await startKeyAdministration(t);
  await addScopeSet(folder, { id: 'readers', name: 'readers', scopes: ['store:read'] });
  await addScopeSet(folder, { id: 'editors', name: 'editors', scopes: ['store:read', 'store:write'] });
  await addScopeSet(folder, { id: 'nothing', name: 'nothing', scopes: ['of:another:catalogue'] });
  await addUser(folder, { ...bea, scopes: ['apikeys:write'], scopeSets: ['readers'] });
  const signIn = async (account: typeof bea, scope: string) => ({
    bearer: (await api.signIn(account.username, account.password, { scope })).accessToken,
  });
  const wide = await signIn(bea, '');
  const narrow = await signIn(bea, 'apikeys:write');
  const administratorNarrow = await signIn(administrator, 'apikeys:write store:read');
  const key = { apiKey: (await mint({ scopes: ['apikeys:write'], scope_sets: ['readers'] })).key };

  const rows = [
    ['a user, a scope held by a set', wide, ['store:read'], [], ''],
    ['a user, a set held', wide, [], ['readers'], ''],
    ['a user, a set not held though it grants nothing here', wide, [], ['nothing'], 'apikeys:write'],
    ['a user, a scope not held', wide, ['store:write'], [], 'store:write'],
    ['a user, a set that grants more', wide, ['store:read'], ['editors'], 'store:write'],
    ['a narrow token, a scope the user holds', narrow, ['store:read'], [], 'store:read'],
    ['a narrow token, a set the user holds', narrow, [], ['readers'], 'store:read'],
    ['a narrow token, what it has', narrow, ['apikeys:write'], [], ''],
    [
      'a narrow token of an administrator, a set that may outgrow it',
      administratorNarrow,
      [],
      ['readers'],
      'store:read',
    ],
    ['a narrow token of an administrator, what it has', administratorNarrow, ['store:read'], [], ''],
    [
      'a narrow token of an administrator, the built-in set',
      administratorNarrow,
      [],
      ['administrator'],
      'apikeys:read audit:read scopesets:read scopesets:write sessions:read sessions:write store:write users:read users:write',
    ],
    ['a key, a scope held by a set', key, ['store:read'], [], ''],
    ['a key, a set held', key, [], ['readers'], ''],
    ['a key, a scope not held', key, ['apikeys:read'], [], 'apikeys:read'],
    ['a key, a set that grants more', key, [], ['editors'], 'store:write'],
  ] as const;
  for (const [name, caller, scopes, scope_sets, missing] of rows) {
    const { status, json } = await ask({ label: 'a', scopes, scope_sets }, caller);
    t.equal(status, missing === '' ? 201 : 403, name);
    if (missing !== '')
      t.strictSame([json.code, json.detail], ['insufficient_scope', `Missing scope: ${missing}`]);
  }
});

t.test('lost scopes can no longer be minted, and scopes added to a set can', async (t) => {
  const { api, folder, ask } = await startKeyAdministration(t);
  await addScopeSet(folder, { id: 'team', name: 'team', scopes: ['apikeys:write', 'store:read'] });
  const { id } = await addUser(folder, { ...bea, scopeSets: ['team'] });
  const session = { bearer: (await api.signIn(bea.username, bea.password)).accessToken };
  const asked = { scope: 'apikeys:write store:read' };
  const restricted = { bearer: (await api.signIn(bea.username, bea.password, asked)).accessToken };
  const own = { label: 'own', scopes: [], scope_sets: ['team'] };
  const key = { apiKey: (await ask(own, session)).json.key };
  const body = { label: 'a', scopes: ['store:read'] };
  for (const caller of [session, key]) t.equal((await ask(body, caller)).status, 201);

  await addScopeSet(folder, { id: 'team', name: 'team', scopes: ['apikeys:write'] });
  for (const caller of [session, key]) t.equal((await ask(body, caller)).status, 403);

  await addScopeSet(folder, {
    id: 'team',
    name: 'team',
    scopes: ['apikeys:write', 'store:read', 'store:write'],
  });
  t.equal(
    (await ask({ ...body, scopes: ['store:write'] }, key)).status,
    201,
    'a key has what its sets hold now',
  );
  t.equal((await ask(body, session)).status, 201);
  t.equal(
    (await ask({ ...body, scopes: ['store:write'] }, session)).status,
    201,
    'and so has a token that was never restricted',
  );
  t.equal(
    (await ask({ ...body, scopes: ['store:write'] }, restricted)).status,
    403,
    'any other no more than was asked for',
  );

  await changeUser(folder, id, { scopeSets: [] });
  t.equal((await ask(body, session)).status, 403);
  t.equal((await ask(body, key)).status, 403, 'a key has nothing that its owner has lost');
});

t.test('a key minted with a key names it, and ends no later', async (t) => {
  const { ask, mint, call, administratorId } = await startKeyAdministration(t);
  const scopes = ['apikeys:write', 'store:read'];
  const ending = inHours(2);
  const parent = await mint({ scopes, expires: ending });
  const endless = await mint({ scopes });
  const rows = [
    ['absent: the same', parent, undefined, 201, ending],
    ['sooner', parent, inHours(1), 201],
    ['the same instant, spelt otherwise', parent, ending.replace('Z', '+00:00'), 201, ending],
    ['a millisecond later', parent, new Date(Date.parse(ending) + 1).toISOString(), 403],
    ['null', parent, null, 403],
    ['absent, of a key without end', endless, undefined, 201, null],
    ['null, of a key without end', endless, null, 201, null],
    ['any, of a key without end', endless, ending, 201, ending],
  ] as const;
  for (const [name, { id, key }, expires, status, expected = expires] of rows) {
    const response = await ask({ label: 'a', scopes: ['store:read'], expires }, { apiKey: key });
    t.equal(response.status, status, name);
    if (status === 201) {
      const { parent: parentId, created_by, ...child } = (await call('GET', response.json.id)).json;
      t.strictSame([parentId, child.expires, created_by.id], [id, expected, administratorId], name);
    } else {
      t.equal(response.json.code, 'expiry_exceeds_caller', name);
      t.equal(response.json.detail, 'The key would outlive the key that mints it');
      t.equal(response.headers['www-authenticate'], undefined);
    }
  }
});

t.test('the end of the minting key and the longest life: the sooner one counts', async (t) => {
  const config = { api_keys: { max_lifetime: '2h' } };
  const { ask, mint, advance } = await startKeyAdministration(t, { config });
  const scopes = ['apikeys:write', 'store:read'];
  const parent = await mint({ scopes });
  const short = await mint({ scopes, expires: inHours(1) });
  const expiryOf = async (apiKey: string) => (await ask({ label: 'a', scopes }, { apiKey })).json.expires;
  t.equal(await expiryOf(parent.key), parent.expires, 'the longest life of the child is later');
  t.equal(await expiryOf(short.key), short.expires);
  const late = await ask({ label: 'a', scopes, expires: inHours(3) }, { apiKey: short.key });
  t.equal(late.status, 422, 'malformed before beyond the caller');
  advance(hourMs / 2);
  t.equal(await expiryOf(parent.key), parent.expires);
  const soon = await ask({ label: 'a', scopes, expires: inHours(0.6) }, { apiKey: parent.key });
  t.equal(soon.status, 201);
});
