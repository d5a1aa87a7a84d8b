import t from 'tap';
import { addUser, changeUser, withRecords } from '../support/administration/accounts.ts';
import { startKeyAdministration } from '../support/administration/key-administration.ts';
import { removeUser } from '../support/administration/record-changes.ts';
import { addScopeSet } from '../support/administration/scope-sets.ts';

const bea = { username: 'Bea Č%', password: 'another horse battery' };

async function withBeasKey(t: Parameters<typeof startKeyAdministration>[0]) {
  const administration = await startKeyAdministration(t);
  const { api, folder, mint } = administration;
  const { id: ownerId } = await addUser(folder, { ...bea, scopes: ['apikeys:write', 'store:read'] });
  const { accessToken: bearer } = await api.signIn(bea.username, bea.password);
  const key = await mint({ label: "Bea's" }, { bearer });
  return { ...administration, ownerId, key };
}

t.test('a disabled user suspends the keys, an enabled one revives them', async (t) => {
  const { call, folder, statusOfUse, ownerId, key, advance, mint } = await withBeasKey(t);
  const other = await mint();
  const status = async () => (await call('GET', key.id)).json.status;
  const listed = async (query: string) =>
    (await call('GET', `?${query}`)).json.items.map(({ id }: { id: string }) => id);
  t.equal(await statusOfUse(key.key), 200);

  await changeUser(folder, ownerId, { disabled: true });
  t.equal(await statusOfUse(key.key), 401);
  t.equal(await status(), 'suspended');
  t.strictSame(await listed('status__eq=suspended'), [key.id]);
  t.strictSame(await listed('status__eq=active'), [other.id]);
  t.equal(await statusOfUse(other.key), 200, "another user's key goes on");

  await changeUser(folder, ownerId, { disabled: false });
  t.equal(await statusOfUse(key.key), 200);
  t.equal(await status(), 'active');

  const soon = await mint({ expires: new Date(Date.now() + 60_000).toISOString() });
  t.equal(await statusOfUse(soon.key), 200);
  advance(60_000);
  t.equal(await statusOfUse(soon.key), 401);
  t.equal((await call('GET', soon.id)).json.status, 'expired');
  t.strictSame(await listed('status__eq=expired'), [soon.id]);
});

t.test('expired takes precedence over suspended', async (t) => {
  const { call, api, folder, mint, ownerId, advance } = await withBeasKey(t);
  const { accessToken: bearer } = await api.signIn(bea.username, bea.password);
  const soon = await mint({ expires: new Date(Date.now() + 60_000).toISOString() }, { bearer });
  await changeUser(folder, ownerId, { disabled: true });
  t.equal((await call('GET', soon.id)).json.status, 'suspended');
  advance(60_000);
  t.equal((await call('GET', soon.id)).json.status, 'expired');
});

t.test('removing a user removes the keys', async (t) => {
  const { call, folder, statusOfUse, ownerId, key } = await withBeasKey(t);
  await withRecords(folder, (records) => removeUser(records, ownerId));
  t.equal(await statusOfUse(key.key), 401);
  t.equal((await call('GET', key.id)).status, 404);
});

t.test('a key loses scopes with its owner, and regains them with its owner', async (t) => {
  const { api, folder, upstream, statusOfUse, mint, ask, call } = await startKeyAdministration(t);
  const scopes = ['apikeys:write', 'store:read', 'store:write'];
  await addScopeSet(folder, { id: 'readers', name: 'readers', scopes: ['store:read'] });
  const held = { scopes, scopeSets: ['administrator', 'readers'] };
  const { id } = await addUser(folder, { ...bea, ...held });
  const session = { bearer: (await api.signIn(bea.username, bea.password)).accessToken };
  const ofScopes = await mint({ scopes }, session);
  const ofSet = await mint({ scopes: [], scope_sets: ['administrator', 'readers'] }, session);
  const scopesSeen = async (apiKey: string) => {
    await api.send({ path: '/api/else', apiKey });
    return upstream.seen.at(-1)!.values('x-auth-scopes');
  };
  for (const { key } of [ofScopes, ofSet]) t.equal(await statusOfUse(key), 200);

  await changeUser(folder, id, { scopes: ['apikeys:write', 'store:write'], scopeSets: [] });
  for (const { key } of [ofScopes, ofSet]) {
    t.equal(await statusOfUse(key), 403);
    t.strictSame(await scopesSeen(key), ['apikeys:write store:write']);
    const caller = { apiKey: key };
    t.equal((await ask({ label: 'beyond', scopes: ['store:read'] }, caller)).status, 403);
    for (const set of ['administrator', 'readers'])
      t.equal((await ask({ label: 'beyond', scopes: [], scope_sets: [set] }, caller)).status, 403, set);
    t.equal((await ask({ label: 'within', scopes: ['store:write'] }, caller)).status, 201);
  }
  const { json } = await call('GET', ofScopes.id);
  t.strictSame(json.scopes, scopes, 'it is shown as it was minted');

  await changeUser(folder, id, { scopes: ['apikeys:write', 'store:read'], scopeSets: ['readers'] });
  t.equal(await statusOfUse(ofScopes.key), 200);
  t.strictSame(await scopesSeen(ofSet.key), ['apikeys:write store:read']);
  const handOn = { label: 'handed on', scopes: [], scope_sets: ['readers'] };
  t.equal((await ask(handOn, { apiKey: ofSet.key })).status, 201);
  t.equal((await ask(handOn, { apiKey: ofScopes.key })).status, 403, 'it never held the set');
});

t.test('a kept key of a removed user still mints keys, and its children are deleted with it', async (t) => {
  const { api, call, folder, mint, statusOfUse } = await startKeyAdministration(t);
  const { id } = await addUser(folder, { ...bea, scopes: ['apikeys:write', 'store:read'] });
  const session = { bearer: (await api.signIn(bea.username, bea.password)).accessToken };
  const kept = await mint({ scopes: ['apikeys:write', 'store:read'] }, session);
  await withRecords(folder, (records) => removeUser(records, id, 'keep'));
  const child = await mint({}, { apiKey: kept.key });
  t.strictSame([child.created_by, child.parent], [{ id, username: null }, kept.id]);
  t.equal(await statusOfUse(child.key), 200);
  t.equal((await call('DELETE', `${kept.id}?children=true`)).status, 204);
  t.equal(await statusOfUse(child.key), 401);
});

t.test('a kept key of a removed user keeps working without a name', async (t) => {
  const { call, folder, statusOfUse, ownerId, key, upstream } = await withBeasKey(t);
  t.equal(await statusOfUse(key.key), 200);
  t.strictSame(upstream.seen[0]!.values('x-auth-username'), ['Bea%20%C4%8C%25']);
  await withRecords(folder, (records) => removeUser(records, ownerId, 'keep'));

  t.equal(await statusOfUse(key.key), 200);
  const seen = upstream.seen[1]!;
  t.strictSame(seen.values('x-auth-subject'), [ownerId]);
  t.strictSame(seen.values('x-auth-username'), []);
  const { json } = await call('GET', key.id);
  t.strictSame([json.created_by, json.status], [{ id: ownerId, username: null }, 'active']);
  t.equal((await call('GET', `${key.id}?hydrate=no`)).json.created_by, ownerId);
  const { json: list } = await call('GET', `?created_by__eq=${ownerId}`);
  t.strictSame([list.total, list.items[0].created_by], [1, { id: ownerId, username: null }]);
});

t.test('the upstream is told which key calls, for whom and what it may do now', async (t) => {
  const { api, mint, folder, upstream, administratorId } = await startKeyAdministration(t);
  await addScopeSet(folder, { id: 's', name: 's', scopes: ['store:read', 'unknown:here'] });
  const { id, key } = await mint({ scopes: ['audit:read'], scope_sets: ['s'] });
  const call = async () => {
    const { status } = await api.send({ path: '/api/else', apiKey: key });
    return [status, upstream.seen.at(-1)!.values('x-auth-scopes')];
  };
  t.strictSame(await call(), [200, ['audit:read store:read']]);
  await addScopeSet(folder, { id: 's', name: 's', scopes: ['users:read', 'store:write'] });
  t.strictSame(await call(), [200, ['audit:read store:write users:read']]);
  const seen = upstream.seen.at(-1)!;
  t.strictSame(seen.values('x-auth-key-id'), [id]);
  t.strictSame(seen.values('x-auth-subject'), [administratorId]);
  t.strictSame(seen.values('x-auth-method'), ['api_key']);
  t.strictSame(seen.values('x-auth-tenant'), ['acme']);
  t.strictSame(seen.values('x-auth-session-id'), []);
  t.strictSame(seen.values('x-api-key'), []);
  t.equal(
    (await api.send({ path: '/api/store/x', apiKey: key })).status,
    403,
    'the route asks for store:read',
  );
});

t.test('a key without any scope left is still signed in', async (t) => {
  const { api, mint, folder, upstream } = await startKeyAdministration(t);
  await addScopeSet(folder, { id: 's', name: 's', scopes: [] });
  const { key } = await mint({ scopes: [], scope_sets: ['s'] });
  t.equal((await api.send({ path: '/api/else', apiKey: key })).status, 200);
  t.strictSame(upstream.seen[0]!.values('x-auth-scopes'), ['']);
});
