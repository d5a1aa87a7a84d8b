import { startUserAdministration, userPassword } from '../support/administration/user-administration.ts';
import { testOnEveryStore } from '../support/stores/every-store.ts';

const setsPath = '/api/admin/scope-sets/';

testOnEveryStore('nobody creates a user beyond what they hold', async (t, stores) => {
  const { users, api, asAdministrator, keyWith } = await startUserAdministration(t, stores);
  const writer = await keyWith('users:write', 'store:read');
  const { json: catalogue } = await api.send({ path: '/api/admin/api-keys/scopes', ...asAdministrator });
  const beyond = catalogue.filter((scope: string) => scope !== 'users:write' && scope !== 'store:read');
  const create = (body: object) => users('POST', '', { username: 'x', ...body }, writer);
  t.match(await create({ scopes: ['store:write'] }), {
    status: 403,
    json: { detail: 'Missing scope: store:write' },
  });
  t.match(await create({ scope_sets: ['administrator'] }), {
    json: { detail: `Missing scope: ${beyond.join(' ')}` },
  });
  t.equal((await create({ scopes: ['store:read'] })).status, 201);
  t.equal((await users('POST', '', { username: 'y' }, await keyWith('users:read'))).status, 403);
});

testOnEveryStore('nobody changes or removes who holds more, or gives what they lack', async (t, stores) => {
  const { users, create, keyWith, administratorId } = await startUserAdministration(t, stores);
  const writer = await keyWith('users:read', 'users:write', 'store:read');
  const { id: more } = await create('more', { scopes: ['store:read', 'store:write'] });
  const { id: equal } = await create('equal', { scopes: ['store:read'] });
  const patches = [
    {},
    { email: 'x@example.com' },
    { disabled: true },
    { password: userPassword },
    { scopes: [] },
    { username: 'x' },
  ];
  for (const target of [more, administratorId]) {
    for (const patch of patches)
      t.match(await users('PATCH', target, patch, writer), {
        status: 403,
        json: { code: 'insufficient_scope' },
      });
    for (const keys of ['', '?keys=delete', '?keys=keep'])
      t.equal((await users('DELETE', target + keys, undefined, writer)).status, 403, keys);
    t.equal((await users('GET', target, undefined, writer)).status, 200);
  }
  t.match(await users('PATCH', equal, { scopes: ['store:read', 'store:write'] }, writer), {
    status: 403,
    json: { detail: 'Missing scope: store:write' },
  });
  t.match(await users('PATCH', equal, { scope_sets: ['administrator'] }, writer), { status: 403 });
  t.equal((await users('PATCH', equal, { scopes: [], email: 'x@example.com' }, writer)).status, 200);
  t.equal((await users('DELETE', equal, undefined, writer)).status, 204);
  t.match((await users('GET', more)).json, {
    scopes: ['store:read', 'store:write'],
    email: null,
    disabled: false,
  });
});

testOnEveryStore('a set is handed on only by who holds that very set', async (t, stores) => {
  const { users, api, asAdministrator, create, mint, signInAs } = await startUserAdministration(t, stores);
  const body = { name: 'readers', scopes: ['store:read'] };
  const { id: set } = (await api.send({ method: 'POST', path: setsPath, json: body, ...asAdministrator }))
    .json;
  await create('holder', { scopes: ['users:write'], scope_sets: [set] });
  await create('other', { scopes: ['users:write', 'store:read'] });
  const { id } = await create('target');
  const [holder, other] = [await signInAs('holder'), await signInAs('other')];
  const give = { scope_sets: [set] };
  t.match(await users('PATCH', id, give, other), {
    status: 403,
    json: { detail: 'Missing scope: store:read' },
  });
  const narrowed = await api.signIn('holder', userPassword, { scope: 'users:write' });
  t.equal(
    (await users('PATCH', id, give, { bearer: narrowed.accessToken })).status,
    403,
    'nor a narrowed session',
  );
  t.equal((await users('PATCH', id, give, holder)).status, 200);
  t.equal(
    (await users('PATCH', id, { email: 'x@example.com' }, other)).status,
    403,
    'who now holds a set that may grow',
  );
  const { key } = await mint({ scopes: ['users:write'], scope_sets: [set] });
  t.equal((await users('PATCH', id, { email: 'x@example.com' }, { apiKey: key })).status, 200);
  t.match((await users('GET', id)).json, { scope_sets: [set], effective_scopes: ['store:read'] });
});

testOnEveryStore('the keys of a removed user are deleted, kept or given away', async (t, stores) => {
  const { users, api, create, signInAs, mint, auditOf, asAdministrator } = await startUserAdministration(
    t,
    stores,
  );
  const statusOf = async (apiKey: string) => (await api.send({ path: '/api/store/x', apiKey })).status;
  const userWithKey = async (name: string) => {
    const { id } = await create(name, { scopes: ['apikeys:write', 'store:read'] });
    return { id, ...(await mint({ scopes: ['store:read'] }, await signInAs(name))), userId: id };
  };
  const [deleted, kept, given] = [
    await userWithKey('one'),
    await userWithKey('two'),
    await userWithKey('three'),
  ];
  const service = await create('service', { kind: 'service', password: null, scopes: ['store:read'] });
  const poor = await create('poor');
  const disabled = await create('off', { disabled: true, scopes: ['store:read'] });

  await users('DELETE', deleted.userId);
  t.equal(await statusOf(deleted.key), 401);
  await users('DELETE', `${kept.userId}?keys=keep`);
  t.equal(await statusOf(kept.key), 200);
  const target = given.userId;
  for (const to of ['nobody', disabled.id, target])
    t.match(await users('DELETE', `${target}?keys=transfer:${to}`), {
      status: 422,
      json: { detail: [{ loc: ['query', 'keys'] }] },
    });
  for (const to of ['nobody', disabled.id])
    t.match(
      await users('DELETE', `nobody?keys=transfer:${to}`),
      { status: 422, json: { detail: [{ loc: ['query', 'keys'], input: `transfer:${to}` }] } },
      'judged before its record is looked for',
    );
  t.equal((await users('DELETE', `nobody?keys=transfer:${poor.id}`)).status, 404);
  for (const keys of ['all', 'transfer:', 'Delete'])
    t.equal((await users('DELETE', `${target}?keys=${keys}`)).status, 422);
  t.equal(
    (await users('DELETE', `${target}?keys=transfer:${poor.id}`)).status,
    403,
    'as minting for the new owner',
  );
  t.equal((await users('DELETE', `${target}?keys=transfer:${service.id}`)).status, 204);
  t.equal(await statusOf(given.key), 200);
  const { json: page } = await api.send({
    path: `/api/admin/api-keys/?created_by__eq=${service.id}`,
    ...asAdministrator,
  });
  t.match(page.items, [{ created_by: { username: 'service' } }]);
  t.match((await auditOf(page.items[0].id)).at(-1), {
    event: 'api_key_transferred',
    changes: { fields: ['created_by'] },
  });
  await users('PATCH', service.id, { disabled: true });
  t.equal(await statusOf(given.key), 401, 'bounded by its new owner');
});

testOnEveryStore('a key that stays does not regain what its owner had lost', async (t, stores) => {
  const { users, create, signInAs, mint, keyWith } = await startUserAdministration(t, stores);
  const { id } = await create('grace', { scopes: ['apikeys:write', 'store:read', 'store:write'] });
  await mint({ scopes: ['store:write'] }, await signInAs('grace'));
  await users('PATCH', id, { scopes: ['store:read'] });
  const { id: heir } = await create('heir', { scopes: ['store:read'] });
  const writer = await keyWith('users:write', 'store:read');
  t.equal((await users('DELETE', `${id}?keys=keep`, undefined, writer)).status, 403);
  t.equal((await users('DELETE', `${id}?keys=transfer:${heir}`, undefined, writer)).status, 403);
  t.equal((await users('DELETE', id, undefined, writer)).status, 204);
});
