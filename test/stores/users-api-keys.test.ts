import { keysPath } from '../support/administration/key-administration.ts';
import { startUserAdministration } from '../support/administration/user-administration.ts';
import { testOnEveryStore } from '../support/stores/every-store.ts';

const body = { label: 'theirs', scopes: ['store:read'] };

testOnEveryStore('a key is minted for a user, and is the user’s own', async (t, stores) => {
  const { users, api, create, statusOfUse, upstream, auditOf, administratorId } =
    await startUserAdministration(t, stores);
  const { id } = await create('ci', { kind: 'service', password: null, scopes: ['store:read'] });
  const minted = await users('POST', `${id}/api-keys`, body);
  t.match(minted, {
    status: 201,
    headers: { etag: '"1"' },
    json: { ...body, created_by: { id, username: 'ci' }, parent: null, expires: null, status: 'active' },
  });
  const { key, id: keyId } = minted.json;
  t.equal(await statusOfUse(key), 200);
  t.strictSame(upstream.seen.at(-1)!.values('x-auth-subject'), [id]);
  t.match(await auditOf(keyId), [
    {
      event: 'api_key_created',
      actor: { user: administratorId },
      changes: { scopes: { added: ['store:read'] } },
    },
  ]);
  const bare = await users('POST', `${id}/api-keys/?hydrate=false`, body);
  t.equal(bare.json.created_by, id);
  await users('PATCH', id, { scopes: [] });
  t.equal(await statusOfUse(key), 403, 'the user bounds it');
  await users('PATCH', id, { disabled: true, scopes: ['store:read'] });
  t.equal(await statusOfUse(key), 401);
  t.match(await users('POST', `${id}/api-keys`, body), { status: 409, json: { code: 'conflict' } });
  await users('DELETE', id);
  t.equal((await api.send({ path: keysPath + keyId })).status, 401);
  t.equal((await users('POST', `${id}/api-keys`, body)).status, 404);
});

testOnEveryStore('a key for a user is within what caller and user both hold', async (t, stores) => {
  const { users, api, create, keyWith, mint, asAdministrator, administratorId, call } =
    await startUserAdministration(t, stores);
  const { id } = await create('grace', { scopes: ['store:read'] });
  const more = await create('more', { scopes: ['store:read', 'store:write'] });
  const set = { name: 'readers', scopes: ['store:read'] };
  const { id: setId } = (
    await api.send({ method: 'POST', path: '/api/admin/scope-sets/', json: set, ...asAdministrator })
  ).json;
  const writer = await keyWith('users:write', 'apikeys:write', 'store:read', 'store:write');
  const poor = await keyWith('users:write', 'apikeys:write', 'store:read');
  const mintFor = (who: string, json: object, by: object = asAdministrator) =>
    users('POST', `${who}/api-keys`, json, by);
  const refused = async (name: string, response: Promise<any>, detail: RegExp = /^Missing scope: /) =>
    t.match(await response, { status: 403, json: { code: 'insufficient_scope', detail } }, name);
  await refused('the user lacks it', mintFor(id, { ...body, scopes: ['store:write'] }), /store:write/);
  await refused('the user lacks the set', mintFor(id, { ...body, scope_sets: [setId] }));
  await refused('the user holds more than the caller', mintFor(more.id, body, poor));
  await refused('so does an administrator', mintFor(administratorId, body, writer));
  await refused('one scope is missing', mintFor(id, body, await keyWith('users:write', 'store:read')));
  await refused('the other is missing', mintFor(id, body, await keyWith('apikeys:write', 'store:read')));
  t.equal((await mintFor(more.id, { ...body, scopes: ['store:write'] }, writer)).status, 201);
  for (const [json, place] of [
    [{ ...body, label: '' }, 'label'],
    [{ ...body, scopes: ['nothing'] }, 'scopes'],
    [{ ...body, scope_sets: ['nothing'] }, 'scope_sets'],
  ] as const)
    t.match(await mintFor(id, json), { status: 422, json: { detail: [{ loc: ['body', place] }] } });
  t.equal((await mintFor('nobody', { ...body, label: '' })).status, 422);
  t.equal((await mintFor('nobody', body)).status, 404);

  const expires = new Date(Date.now() + 60_000).toISOString();
  const scopes = ['users:write', 'apikeys:write', 'store:read'];
  const short = await mint({ scopes, expires });
  const by = { apiKey: short.key };
  t.equal((await mintFor(id, { ...body, expires: null }, by)).json.code, 'expiry_exceeds_caller');
  const child = await mintFor(id, body, by);
  t.match(child.json, { parent: short.id, expires, created_by: { username: 'grace' } });
  t.equal((await call('DELETE', `${short.id}?children=true`)).status, 204);
  t.equal((await call('GET', child.json.id)).status, 404);
});

testOnEveryStore('a key has a version, for If-Match', async (t, stores) => {
  const { users, api, create, mint, signInAs, call, asAdministrator } = await startUserAdministration(
    t,
    stores,
  );
  const { id: owner } = await create('grace', { scopes: ['apikeys:write', 'store:read'] });
  const { id } = await mint({ scopes: ['store:read'] }, await signInAs('grace'));
  t.equal((await call('GET', id)).headers.etag, '"1"');
  const heir = await create('heir', { scopes: ['store:read'] });
  await users('DELETE', `${owner}?keys=transfer:${heir.id}`);
  t.equal((await call('GET', `${id}?hydrate=false`)).headers.etag, '"2"');
  const remove = (tag: string, of = id) =>
    api.send({ method: 'DELETE', path: keysPath + of, headers: { 'if-match': tag }, ...asAdministrator });
  for (const tag of ['"1"', 'W/"2"', '2', '"1", W/"2"'])
    t.equal((await remove(tag)).json.code, 'precondition_failed', tag);
  t.equal((await remove('"1"', 'nobody')).status, 404);
  t.equal((await remove('"1", "2"')).status, 204);
  t.equal((await call('GET', id)).status, 404);
});
