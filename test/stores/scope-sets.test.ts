import t from 'tap';
import { type Credential, startKeyAdministration } from '../support/administration/key-administration.ts';
import type { ApiRequest } from '../support/clients/api-client.ts';
import type { TestScope } from '../support/gateway/gateway.ts';
import { testOnEveryStore } from '../support/stores/every-store.ts';

const setsPath = '/api/admin/scope-sets/';
const uuid = /^[0-9a-f]{8}-[0-9a-f]{4}-7[0-9a-f]{3}-[0-9a-f]{4}-[0-9a-f]{12}$/;

/** A gateway whose administrator is signed in, with the calls about scope sets. */
async function startSets(t: TestScope, config: object) {
  const gateway = await startKeyAdministration(t, { config });
  const { api, asAdministrator, mint } = gateway;
  const sets = (
    method: string,
    path = '',
    json?: unknown,
    more: Omit<ApiRequest, 'path'> & Credential = asAdministrator,
  ) => api.send({ method, path: setsPath + path, ...(json !== undefined && { json }), ...more });
  async function create(body: object = {}): Promise<any> {
    const response = await sets('POST', '', { name: 'readers', scopes: ['store:read'], ...body });
    if (response.status !== 201) throw new Error(`${response.status} ${response.text}`);
    return response.json;
  }
  const keyWith = async (...scopes: string[]) => ({ apiKey: (await mint({ scopes })).key as string });
  const withMatch = (tag: string) => ({ ...asAdministrator, headers: { 'if-match': tag } });
  async function auditOf(target: string) {
    const path = `/api/admin/audit/?sort_order=asc&target__eq=${target}`;
    return (await api.send({ path, ...asAdministrator })).json.items as any[];
  }
  return { ...gateway, sets, create, keyWith, withMatch, auditOf };
}

testOnEveryStore('a scope set is created, read, changed and deleted', async (t, stores) => {
  const { sets, auditOf, administratorId } = await startSets(t, stores);
  const created = await sets('POST', '', {
    name: '  editors ',
    description: 'Who edits',
    scopes: ['store:write', 'store:read'],
  });
  t.equal(created.status, 201);
  t.equal(created.headers.etag, '"1"');
  const { id, created: at } = created.json;
  t.match(id, uuid);
  t.same(created.json, {
    id,
    name: 'editors',
    description: 'Who edits',
    scopes: ['store:read', 'store:write'],
    created: at,
    updated: at,
    managed: false,
  });
  const read = await sets('GET', id);
  t.same(read.json, created.json);
  t.equal(read.headers.etag, '"1"');

  const changed = await sets('PATCH', id, { name: 'readers', description: null, scopes: ['store:read'] });
  t.match(changed, { status: 200, json: { id, name: 'readers', description: '', scopes: ['store:read'] } });
  t.equal(changed.headers.etag, '"2"');
  t.same((await sets('GET', id)).json, changed.json);
  const same = await sets('PATCH', id, { name: 'readers' });
  t.equal(same.headers.etag, '"2"', 'what changes nothing is no change');

  t.equal((await sets('DELETE', id)).status, 204);
  t.equal((await sets('GET', id)).status, 404);
  t.equal((await sets('PATCH', id, {})).status, 404);
  t.equal((await sets('DELETE', id)).status, 404);
  const actor = { user: administratorId, kind: 'session' };
  t.match(await auditOf(id), [
    {
      event: 'scope_set_created',
      actor,
      changes: {
        fields: ['name', 'description'],
        scopes: { added: ['store:read', 'store:write'], removed: [] },
      },
    },
    {
      event: 'scope_set_changed',
      changes: { fields: ['name', 'description'], scopes: { added: [], removed: ['store:write'] } },
    },
    { event: 'scope_set_removed', changes: { scopes: { added: [], removed: ['store:read'] } } },
  ]);
  t.equal((await auditOf(id)).length, 3);
});

testOnEveryStore('the built-in set is listed, the whole catalogue, and never changes', async (t, stores) => {
  const { api, sets, create, asAdministrator } = await startSets(t, stores);
  const catalogue = (await api.send({ path: '/api/admin/api-keys/scopes', ...asAdministrator })).json;
  t.match((await sets('GET', 'administrator')).json, {
    name: 'administrator',
    scopes: catalogue,
    managed: false,
  });
  for (const [method, body] of [
    ['PATCH', { description: 'mine' }],
    ['DELETE', undefined],
  ] as const)
    t.equal((await sets(method, 'administrator', body)).json.code, 'conflict', method);
  t.equal(
    (await sets('POST', '', { name: 'administrator', scopes: [] })).json.code,
    'conflict',
    'nor is its name free',
  );
  await create({ name: 'b' });
  await create({ name: 'a', scopes: ['store:write'] });
  const names = async (query: string) => (await sets('GET', query)).json.items.map(({ name }: any) => name);
  t.strictSame(await names(''), ['a', 'b', 'administrator']);
  t.strictSame(await names('?sort_by=name&sort_order=asc'), ['a', 'administrator', 'b']);
  t.strictSame(await names('?scopes__contains=store:write&sort_by=name'), ['administrator', 'a']);
  t.strictSame(await names('?name__contains=ADMIN'), ['administrator']);
  t.strictSame(await names('?managed__eq=true'), []);
  t.strictSame(await names('?created__gt=2000-01-01T00:00:00Z&sort_by=name'), ['b', 'a']);
  const first = (await sets('GET', '?size=2&sort_by=name&sort_order=asc')).json;
  t.equal(first.total, 3);
  const second = (await sets('GET', `?size=2&sort_by=name&sort_order=asc&cursor=${first.next_page}`)).json;
  t.match(second, { items: [{ name: 'b' }], next_page: null });
  t.equal((await sets('GET', 'filters')).json.sort.default.sort_by, 'created');
});

testOnEveryStore('a change is refused unless the version is the one that was read', async (t, stores) => {
  const { sets, create, withMatch } = await startSets(t, stores);
  const { id } = await create();
  await sets('PATCH', id, { description: 'changed' });
  for (const tag of ['"1"', 'W/"2"', '2', '"2', '"1", "3"', ''])
    for (const [method, body] of [
      ['PATCH', { description: 'lost' }],
      ['DELETE', undefined],
    ] as const)
      t.match(
        await sets(method, id, body, withMatch(tag)),
        { status: 412, json: { code: 'precondition_failed' } },
        tag,
      );
  t.equal((await sets('GET', id)).json.description, 'changed');
  t.equal((await sets('PATCH', id, { description: 'a' }, withMatch('"1", "2"'))).status, 200);
  t.equal((await sets('PATCH', id, { description: 'b' }, withMatch('*'))).status, 200);
  t.equal((await sets('DELETE', 'nothing', undefined, withMatch('"1"'))).status, 404, 'there has to be one');
  t.equal((await sets('DELETE', id, undefined, withMatch('"4"'))).status, 204);
});

testOnEveryStore('nobody makes or changes a set beyond what they hold', async (t, stores) => {
  const { sets, create, keyWith } = await startSets(t, stores);
  const writer = await keyWith('scopesets:read', 'scopesets:write', 'store:read');
  const beyond = (missing: string) => ({ status: 403, json: { detail: `Missing scope: ${missing}` } });
  const set = { name: 'mine', scopes: ['store:read'] };
  t.match(await sets('POST', '', { ...set, scopes: ['store:write'] }, writer), beyond('store:write'));
  const { id } = (await sets('POST', '', set, writer)).json;
  t.match(await sets('PATCH', id, { scopes: ['store:read', 'store:write'] }, writer), beyond('store:write'));
  const { id: wider } = await create({ name: 'wider', scopes: ['store:read', 'users:write'] });
  for (const body of [{ scopes: [] }, { name: 'renamed' }, {}])
    t.match(await sets('PATCH', wider, body, writer), beyond('users:write'), 'judged by what it held, too');
  t.match(await sets('DELETE', wider, undefined, writer), beyond('users:write'));
  t.match(await sets('DELETE', 'administrator', undefined, writer), { status: 403 });
  t.equal((await sets('PATCH', id, { scopes: [] }, writer)).status, 200);
  t.equal((await sets('DELETE', id, undefined, writer)).status, 204);
  const reader = await keyWith('scopesets:read');
  t.equal((await sets('GET', wider, undefined, reader)).status, 200);
  t.match(await sets('POST', '', set, reader), beyond('scopesets:write'));
});

testOnEveryStore('a set in use stays, and what it loses is lost with the next request', async (t, stores) => {
  const { sets, create, mint, statusOfUse, call } = await startSets(t, stores);
  const { id } = await create({ scopes: ['store:read'] });
  const { id: keyId, key } = await mint({ scopes: [], scope_sets: [id] });
  t.equal(await statusOfUse(key), 200);
  t.equal((await sets('DELETE', id)).json.code, 'in_use');
  await sets('PATCH', id, { scopes: [] });
  t.equal(await statusOfUse(key), 403);
  await sets('PATCH', id, { scopes: ['store:read'] });
  t.equal(await statusOfUse(key), 200);
  await call('DELETE', keyId);
  t.equal((await sets('DELETE', id)).status, 204);
});

testOnEveryStore('a name is taken once', async (t, stores) => {
  const { sets, create } = await startSets(t, stores);
  await create({ name: 'one' });
  const { id } = await create({ name: 'two' });
  t.equal((await sets('POST', '', { name: ' one', scopes: [] })).json.code, 'conflict');
  t.equal((await sets('PATCH', id, { name: 'one' })).json.code, 'conflict');
  t.equal((await sets('PATCH', id, { name: 'One' })).status, 200, 'case counts');
  const created = await Promise.all(
    Array.from({ length: 5 }, () => sets('POST', '', { name: 'all', scopes: [] })),
  );
  t.strictSame(created.map(({ status }) => status).sort(), [201, 409, 409, 409, 409]);
});

const malformed: readonly [string, unknown, (string | number)[][]][] = [
  ['nothing', {}, [['name'], ['scopes']]],
  ['an empty name', { name: ' ', scopes: [] }, [['name']]],
  ['a long name', { name: 'x'.repeat(129), scopes: [] }, [['name']]],
  ['a control character', { name: 'a\u0007', scopes: [] }, [['name']]],
  ['an unknown scope', { name: 'a', scopes: ['store:read', 'store:eat'] }, [['scopes', 1]]],
  ['a scope twice', { name: 'a', scopes: ['store:read', 'store:read'] }, [['scopes']]],
  ['a long description', { name: 'a', scopes: [], description: 'x'.repeat(1025) }, [['description']]],
  ['an id', { name: 'a', scopes: [], id: 'administrator' }, [['id']]],
  ['a prototype', JSON.parse('{"name":"a","scopes":[],"__proto__":{"managed":false}}'), [['__proto__']]],
  [
    'wrong types',
    { name: 1, scopes: 'store:read', description: [] },
    [['name'], ['description'], ['scopes']],
  ],
];

t.test('malformed sets are refused, every problem at once, and change nothing', async (t) => {
  const { sets, create } = await startSets(t, {});
  const { id } = await create();
  for (const [name, body, places] of malformed) {
    const { status, json } = await sets('POST', '', body);
    t.equal(status, 422, name);
    t.strictSame(
      json.detail.map(({ loc }: any) => loc.slice(1)),
      places,
      name,
    );
  }
  for (const body of [
    { name: null },
    { scopes: null },
    { managed: true },
    { id: 'x' },
    { scopes: ['nothing'] },
  ])
    t.equal((await sets('PATCH', id, body)).status, 422, JSON.stringify(body));
  t.equal((await sets('GET')).json.total, 2);
  t.equal((await sets('GET', id)).headers.etag, '"1"');
});

t.test('a merge patch by its own content type', async (t) => {
  const { api, create, asAdministrator } = await startSets(t, {});
  const { id } = await create();
  const body = JSON.stringify({ description: 'patched' });
  const patch = (type: string) =>
    api.send({
      method: 'PATCH',
      path: setsPath + id,
      body,
      headers: { 'content-type': type },
      ...asAdministrator,
    });
  t.equal((await patch('application/merge-patch+json')).json.description, 'patched');
  t.equal((await patch('text/plain')).status, 422);
});

testOnEveryStore('no other set reads as the built-in one', async (t, stores) => {
  const { sets, create, keyWith } = await startSets(t, stores);
  const { id } = await create({ name: 'readers' });
  const conflict = { status: 409, json: { code: 'conflict' } };
  for (const name of ['administrator', 'Administrator', 'administrator\u200b', '\uff41dministrator']) {
    t.match(await sets('POST', '', { name, scopes: [] }), conflict, `a new set ${JSON.stringify(name)}`);
    t.match(await sets('PATCH', id, { name }), conflict, `renamed to ${JSON.stringify(name)}`);
  }
  const poor = await keyWith('scopesets:write');
  const beyond = await sets('POST', '', { name: 'Administrator', scopes: ['store:read'] }, poor);
  t.match(beyond, { status: 403 }, 'what the caller lacks comes first');
  t.equal((await sets('GET', id)).json.name, 'readers');
  t.equal((await sets('POST', '', { name: 'administrators', scopes: [] })).status, 201);
});

testOnEveryStore('a description has no control characters but line ends', async (t, stores) => {
  const { sets, create } = await startSets(t, stores);
  const { id } = await create({ name: 'readers' });
  const problem = [{ type: 'string_pattern_mismatch', loc: ['body', 'description'] }];
  for (const mark of ['\u0000', '\t', '\u001b', '\u007f', '\u0085']) {
    const description = `a${mark}b`;
    const refused = { status: 422, json: { detail: problem } };
    t.match(
      await sets('POST', '', { name: 'other', description, scopes: [] }),
      refused,
      JSON.stringify(mark),
    );
    t.match(await sets('PATCH', id, { description }), refused, JSON.stringify(mark));
  }
  const description = 'Who reads:\r\neveryone\n';
  const changed = await sets('PATCH', id, { description });
  t.match(changed, { status: 200, json: { description } });
});
