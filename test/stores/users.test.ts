import t from 'tap';
import { startUserAdministration, userPassword } from '../support/administration/user-administration.ts';
import { testOnEveryStore } from '../support/stores/every-store.ts';

const open = '/api/open-to-all-signed-in';

testOnEveryStore('a user is created, read, changed and removed', async (t, stores) => {
  const { users, api, auditOf, administratorId } = await startUserAdministration(t, stores);
  const created = await users('POST', '', {
    username: ' Grace ',
    display_name: 'Grace H.',
    email: 'grace@example.com',
    scopes: ['store:write', 'store:read'],
    scope_sets: ['administrator'],
    password: userPassword,
  });
  t.equal(created.status, 201);
  t.equal(created.headers.etag, '"1"');
  const { id, created: at, effective_scopes } = created.json;
  t.same(created.json, {
    id,
    username: 'Grace',
    display_name: 'Grace H.',
    email: 'grace@example.com',
    kind: 'person',
    scopes: ['store:read', 'store:write'],
    scope_sets: ['administrator'],
    disabled: false,
    created: at,
    updated: at,
    last_login: null,
    managed: false,
    has_password: true,
    provider_scopes: [],
    provider_scope_sets: [],
    identities: [],
    effective_scopes,
  });
  t.ok(effective_scopes.includes('users:write'), 'the whole catalogue');
  t.same((await users('GET', id)).json, created.json);
  t.notMatch(created.text, /argon2/);

  const patch = { display_name: null, scope_sets: [], scopes: ['store:read'], username: 'grace.h' };
  const changed = await users('PATCH', id, patch);
  t.match(changed, {
    status: 200,
    json: { ...patch, email: 'grace@example.com', effective_scopes: ['store:read'] },
  });
  t.equal(changed.headers.etag, '"2"');
  t.same((await users('GET', id)).json, changed.json);
  const written = { ...patch, kind: 'person', disabled: false };
  t.equal((await users('PATCH', id, written)).headers.etag, '"2"', 'what was read changes nothing');
  t.equal((await api.signIn('GRACE.H ', userPassword)).response.status, 200);

  t.equal((await users('DELETE', id)).status, 204);
  for (const [method, body] of [['GET'], ['PATCH', {}], ['DELETE']] as const)
    t.equal((await users(method, id, body)).status, 404, method);
  const events = await auditOf(id);
  t.strictSame(
    events.map(({ event }) => event),
    ['user_created', 'user_changed', 'user_removed'],
  );
  t.match(events[0], {
    actor: { user: administratorId, kind: 'session' },
    changes: {
      fields: ['username', 'display_name', 'email', 'kind', 'password'],
      scopes: { added: ['store:read', 'store:write'] },
      scope_sets: { added: ['administrator'] },
    },
  });
  t.same(events[1].changes, {
    fields: ['username', 'display_name'],
    scopes: { added: [], removed: ['store:write'] },
    scope_sets: { added: [], removed: ['administrator'] },
  });
  t.notMatch(JSON.stringify(events), /grace@|Grace/, 'never a value');
});

testOnEveryStore('a service has keys and no password', async (t, stores) => {
  const { users, api, create } = await startUserAdministration(t, stores);
  const refused = await users('POST', '', { username: 'ci', kind: 'service', password: userPassword });
  t.match(refused, { status: 422, json: { detail: [{ loc: ['body', 'password'], input: null }] } });
  const { id } = await create('ci', { kind: 'service', password: null });
  t.match((await users('GET', id)).json, { kind: 'service', has_password: false });
  t.equal((await users('PATCH', id, { password: userPassword })).status, 422);
  t.equal((await users('PATCH', id, { kind: 'person' })).status, 422);
  t.equal((await users('PATCH', id, { kind: 'service' })).status, 200);
  const form = { username: 'ci', password: userPassword };
  t.equal((await api.send({ method: 'POST', path: '/api/login/access-token', form })).status, 401);
});

testOnEveryStore('a password, disabling and removal end the sessions at once', async (t, stores) => {
  const { users, api, create, signInAs, mint, auditOf, logLines } = await startUserAdministration(t, stores);
  const status = async (more: object) => (await api.send({ path: open, ...more })).status;
  const { id } = await create('grace', { scopes: ['apikeys:write', 'store:read'] });
  const session = await signInAs('grace');
  const { key } = await mint({ scopes: ['store:read'] }, session);
  t.equal(await status(session), 200);

  await users('PATCH', id, { email: 'grace@example.com' });
  t.equal(await status(session), 200, 'another field ends nothing');
  await users('PATCH', id, { password: `${userPassword}, another` });
  t.equal(await status(session), 401);
  await t.rejects(signInAs('grace'));
  await users('PATCH', id, { password: userPassword });
  const next = await signInAs('grace');
  await users('PATCH', id, { disabled: true });
  t.equal(await status(next), 401);
  t.equal(await status({ apiKey: key }), 401, 'the keys are suspended');
  await t.rejects(signInAs('grace'));
  await users('PATCH', id, { disabled: false });
  t.equal(await status(next), 401);
  t.equal(await status({ apiKey: key }), 200, 'and revived');
  await users('PATCH', id, { password: null });
  await t.rejects(signInAs('grace'));
  await users('PATCH', id, { password: userPassword });
  const last = await signInAs('grace');
  await users('DELETE', id);
  t.equal(await status(last), 401);
  t.equal(await status({ apiKey: key }), 401);
  t.strictSame(
    (await auditOf(id)).map(({ event }) => event),
    [
      'user_created',
      'user_changed',
      'password_changed',
      'password_changed',
      'user_disabled',
      'user_enabled',
      'password_changed',
      'password_changed',
      'user_removed',
    ],
  );
  t.equal(logLines().filter(({ event }) => event === 'session_revoked').length, 3);
});

testOnEveryStore('what is taken from a user is lost with the next request', async (t, stores) => {
  const { users, api, create, signInAs, mint } = await startUserAdministration(t, stores);
  const { id } = await create('grace', { scopes: ['apikeys:write', 'store:read'] });
  const session = await signInAs('grace');
  const { key } = await mint({ scopes: ['store:read'] }, session);
  const statuses = async () =>
    Promise.all(
      [session, { apiKey: key }].map(
        async (who) => (await api.send({ path: '/api/store/x', ...who })).status,
      ),
    );
  t.strictSame(await statuses(), [200, 200]);
  await users('PATCH', id, { scopes: ['apikeys:write'] });
  t.strictSame(await statuses(), [403, 403]);
  await users('PATCH', id, { scopes: ['store:read'] });
  t.strictSame(await statuses(), [200, 200]);
});

testOnEveryStore('users are listed, filtered and paged', async (t, stores) => {
  const { users, create, signInAs, administratorId } = await startUserAdministration(t, stores);
  await create('bob', { disabled: true });
  await create('Carl', { kind: 'service', password: null, email: 'carl@example.com' });
  await create('dora');
  await signInAs('dora');
  const names = async (query: string) =>
    (await users('GET', query)).json.items.map(({ username }: any) => username);
  t.strictSame(await names(''), ['dora', 'Carl', 'bob', 'ada']);
  t.strictSame(await names('?sort_by=username&sort_order=asc'), ['Carl', 'ada', 'bob', 'dora']);
  t.strictSame(await names('?username__eq=%20CARL'), ['Carl']);
  t.strictSame(await names('?username__contains=AR'), ['Carl']);
  t.strictSame(await names('?disabled__eq=true'), ['bob']);
  t.strictSame(await names('?kind__eq=service'), ['Carl']);
  t.strictSame(await names('?email__contains=EXAMPLE'), ['Carl']);
  t.strictSame(await names('?scope_sets__contains=administrator'), ['ada']);
  t.strictSame(await names('?managed__eq=true'), []);
  t.strictSame(await names('?last_login__isnull=true&disabled__eq=false&kind__eq=service'), ['Carl']);
  const first = (await users('GET', '?size=3&sort_by=username')).json;
  t.equal(first.total, 4);
  t.match((await users('GET', `?size=3&sort_by=username&cursor=${first.next_page}`)).json, {
    items: [{ username: 'Carl' }],
    next_page: null,
  });
  t.match((await users('GET', '?username__eq=ada')).json.items, [
    { id: administratorId, has_password: true },
  ]);
  t.equal((await users('GET', 'filters')).json.filters[0].field, 'username');
});

testOnEveryStore('the last administrator stays', async (t, stores) => {
  const { users, create, administratorId } = await startUserAdministration(t, stores);
  await create('service', { kind: 'service', password: null, scope_sets: ['administrator'] });
  await create('nobody', { password: null, scope_sets: ['administrator'] });
  for (const patch of [{ disabled: true }, { scope_sets: [] }, { password: null }])
    t.match(await users('PATCH', administratorId, patch), {
      status: 409,
      json: { code: 'last_administrator' },
    });
  t.equal((await users('DELETE', administratorId)).json.code, 'last_administrator');
  const { id } = await create('other', { scope_sets: ['administrator'] });
  const removals = await Promise.all([
    users('DELETE', id),
    users('PATCH', administratorId, { disabled: true }),
  ]);
  t.equal(removals.filter(({ status }) => status < 300).length, 1, 'one of two at once');
});

testOnEveryStore('a change is refused unless the version is the one that was read', async (t, stores) => {
  const { users, create, asAdministrator } = await startUserAdministration(t, stores);
  const { id } = await create('grace');
  const withMatch = (tag: string) => ({ ...asAdministrator, headers: { 'if-match': tag } });
  await users('PATCH', id, { email: 'a@example.com' });
  for (const tag of ['"1"', 'W/"2"']) {
    t.equal(
      (await users('PATCH', id, { email: null }, withMatch(tag))).json.code,
      'precondition_failed',
      tag,
    );
    t.equal((await users('DELETE', id, undefined, withMatch(tag))).json.code, 'precondition_failed', tag);
  }
  t.equal((await users('PATCH', id, { email: null }, withMatch('"2"'))).status, 200);
  t.equal((await users('DELETE', id, undefined, withMatch('"3"'))).status, 204);
});

testOnEveryStore('a name is taken once, in any case', async (t, stores) => {
  const { users, create } = await startUserAdministration(t, stores);
  const { id } = await create('grace');
  t.equal((await users('POST', '', { username: ' GRACE' })).json.code, 'conflict');
  const { id: other } = await create('other');
  t.equal((await users('PATCH', other, { username: 'Grace' })).json.code, 'conflict');
  t.equal((await users('PATCH', id, { username: 'Grace' })).status, 200, 'its own is free to it');
});

const malformed: readonly [string, unknown, (string | number)[][]][] = [
  ['nothing', {}, [['username']]],
  ['a long name', { username: 'x'.repeat(129) }, [['username']]],
  ['a short password', { username: 'a', password: 'short' }, [['password']]],
  ['unknown scopes and sets', { username: 'a', scopes: ['store:eat'] }, [['scopes', 0]]],
  ['an unknown set', { username: 'a', scope_sets: ['administrator', 'nowhere'] }, [['scope_sets', 1]]],
  ['an unknown kind', { username: 'a', kind: 'robot' }, [['kind']]],
  ['what is only read', { username: 'a', id: 'x', managed: true }, [['id'], ['managed']]],
  [
    'a prototype',
    JSON.parse('{"username":"a","__proto__":{"scope_sets":["administrator"]}}'),
    [['__proto__']],
  ],
];

t.test('malformed users are refused, every problem at once, and nothing is created', async (t) => {
  const { users } = await startUserAdministration(t);
  for (const [name, body, places] of malformed) {
    const { status, json } = await users('POST', '', body);
    t.equal(status, 422, name);
    t.strictSame(
      json.detail.map(({ loc }: any) => loc.slice(1)),
      places,
      name,
    );
  }
  t.equal((await users('GET')).json.total, 1);
});
