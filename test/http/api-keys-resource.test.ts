import t from 'tap';
import { keysPath, startKeyAdministration } from '../support/administration/key-administration.ts';

t.test('the description of filters and sorting is true', async (t) => {
  const { call } = await startKeyAdministration(t);
  const { status, json } = await call('GET', 'filters');
  t.equal(status, 200);
  const instants = ['gte', 'gt', 'lte', 'lt'];
  const { json: catalogue } = await call('GET', 'scopes');
  t.strictSame(json, {
    filters: [
      { field: 'label', type: 'string', operators: ['contains', 'eq'] },
      { field: 'created', type: 'datetime', operators: instants },
      { field: 'expires', type: 'datetime', operators: [...instants, 'isnull'] },
      { field: 'last_used', type: 'datetime', operators: [...instants, 'isnull'] },
      { field: 'scopes', type: 'array', operators: ['contains'], values: catalogue },
      { field: 'created_by', type: 'string', operators: ['eq'] },
      { field: 'parent', type: 'string', operators: ['eq'] },
      { field: 'status', type: 'string', operators: ['eq'], values: ['active', 'expired', 'suspended'] },
    ],
    sort: {
      fields: ['created', 'label', 'expires', 'last_used'],
      orders: ['asc', 'desc'],
      default: { sort_by: 'created', sort_order: 'desc' },
    },
    size: { default: 50, max: 100 },
  });
  for (const { field, type, operators, values } of json.filters)
    for (const operator of operators) {
      const value = operator === 'isnull' ? 'true' : type === 'datetime' ? '2026-01-01T00:00:00Z' : 'x';
      for (const each of values ?? [value])
        t.equal(
          (await call('GET', `?${field}__${operator}=${each}`)).status,
          200,
          `${field}__${operator}=${each}`,
        );
    }
});

t.test('the scopes that can be granted are the whole catalogue, sorted', async (t) => {
  const config = {
    scopes: { 'Z:last': 'a', 'a:first': 'b', 'apikeys:read': 'named anew', constructor: 'c' },
    routes: [{ prefix: '/api', upstream: 'app' }],
  };
  const { call, mint } = await startKeyAdministration(t, { config });
  const { status, json } = await call('GET', 'scopes');
  t.equal(status, 200);
  t.strictSame(json, [
    'Z:last',
    'a:first',
    'apikeys:read',
    'apikeys:write',
    'audit:read',
    'constructor',
    'scopesets:read',
    'scopesets:write',
    'sessions:read',
    'sessions:write',
    'users:read',
    'users:write',
  ]);
  t.strictSame((await mint({ scopes: json.toReversed() })).scopes, json);
  const { json: described } = await call('GET', 'scopes?hydrate=true');
  t.strictSame(
    described.map(({ scope }: { scope: string }) => scope),
    json,
    'the same, described',
  );
  t.strictSame(described.slice(0, 4), [
    { scope: 'Z:last', description: 'a', built_in: false },
    { scope: 'a:first', description: 'b', built_in: false },
    { scope: 'apikeys:read', description: 'named anew', built_in: true },
    { scope: 'apikeys:write', description: 'Mint and delete API keys', built_in: true },
  ]);
  t.strictSame(described[5], { scope: 'constructor', description: 'c', built_in: false });
  t.strictSame((await call('GET', 'scopes?hydrate=false')).json, json);
});

t.test('HEAD responds like GET, without the body', async (t) => {
  const { call, mint } = await startKeyAdministration(t);
  const { id } = await mint();
  for (const path of ['', 'filters', 'scopes', id, 'nothing']) {
    const get = await call('GET', path);
    const head = await call('HEAD', path);
    t.equal(head.status, get.status, path);
    t.equal(head.text, '');
    for (const name of ['content-type', 'content-length', 'cache-control'])
      t.equal(head.headers[name], get.headers[name], `${path}: ${name}`);
  }
});

t.test('OPTIONS and other methods list the methods, to any caller', async (t) => {
  const { call } = await startKeyAdministration(t);
  const rows = [
    ['', 'GET, HEAD, POST, OPTIONS', ['PUT', 'PATCH', 'DELETE']],
    ['filters', 'GET, HEAD, OPTIONS', ['POST', 'DELETE']],
    ['scopes', 'GET, HEAD, OPTIONS', ['POST', 'PUT', 'DELETE']],
    ['some-id', 'GET, HEAD, DELETE, OPTIONS', ['POST', 'PUT', 'PATCH']],
  ] as const;
  for (const [path, allow, others] of rows) {
    const options = await call('OPTIONS', path, {});
    t.strictSame([options.status, options.headers.allow, options.text], [204, allow, ''], `OPTIONS ${path}`);
    t.equal(options.headers['cache-control'], 'no-store');
    for (const method of others) {
      const response = await call(method, path, {});
      t.strictSame([response.status, response.headers.allow], [405, allow], `${method} ${path}`);
      t.equal(response.json.code, 'method_not_allowed');
    }
  }
});

t.test('with and without one trailing slash it is the same', async (t) => {
  const { api, mint, asAdministrator } = await startKeyAdministration(t);
  const { id } = await mint();
  for (const path of [keysPath, `${keysPath}filters/`, `${keysPath}scopes/`, `${keysPath}${id}/`]) {
    const withSlash = await api.send({ path, ...asAdministrator });
    const without = await api.send({ path: path.slice(0, -1), ...asAdministrator });
    t.equal(withSlash.status, 200, path);
    t.equal(without.status, 200);
    t.strictSame(Object.keys(without.json), Object.keys(withSlash.json));
  }
  const body = { label: 'a', scopes: ['store:read'] };
  const path = keysPath.slice(0, -1);
  t.equal((await api.send({ method: 'POST', path, json: body, ...asAdministrator })).status, 201);
  const doomed = { method: 'DELETE', path: `${keysPath}${id}/`, ...asAdministrator };
  t.equal((await api.send(doomed)).status, 204);
});

t.test('an id is opaque and odd ones are nobody', async (t) => {
  const { api, mint, asAdministrator, upstream } = await startKeyAdministration(t);
  const { id } = await mint();
  const rows = [
    ['upper case', id.toUpperCase(), 404],
    ['a prefix', id.slice(0, -1), 404],
    ['an escaped space behind it', `${id}%20`, 404],
    ['UTF-8', '%E2%82%AC', 404],
    ['a wildcard', '%25', 404],
    ['quotes', "'%20OR%20''%3D'", 404],
    ['very long', 'a'.repeat(7_000), 404],
    ['longer than a target may be', 'a'.repeat(9_000), 414],
    ['two segments', `${id}/children`, 404],
    ['an escaped unreserved character', `%61${id.slice(1)}`, 400],
    ['no UTF-8', '%FF', 400],
    ['an escaped slash', `a%2F${id}`, 400],
    ['a dot segment', '..', 400],
    ['an empty segment', `/${id}`, 400],
    ['a parameter', `${id};x`, 400],
  ] as const;
  for (const [name, odd, status] of rows)
    for (const method of ['GET', 'DELETE'])
      t.equal(
        (await api.send({ method, path: keysPath + odd, ...asAdministrator })).status,
        status,
        `${method}: ${name}`,
      );
  t.equal((await api.send({ path: keysPath + id, ...asAdministrator })).status, 200);
  t.equal(upstream.seen.length, 0, 'nothing of the reserved area is forwarded');
});

t.test('a body where none is expected is ignored', async (t) => {
  const { api, mint, asAdministrator } = await startKeyAdministration(t);
  const { id } = await mint();
  const path = keysPath + id;
  t.equal((await api.send({ path, body: '{', ...asAdministrator })).status, 200);
  t.equal((await api.send({ method: 'DELETE', path, body: '{', ...asAdministrator })).status, 204);
  const large = { method: 'DELETE', path, body: 'x'.repeat(65_537), ...asAdministrator };
  t.equal((await api.send(large)).status, 413);
});

t.test('unknown parameters are refused by the list only', async (t) => {
  const { call, mint } = await startKeyAdministration(t);
  const { id } = await mint();
  t.equal((await call('GET', '?x=1')).status, 422);
  for (const path of ['filters', 'scopes', id]) t.equal((await call('GET', `${path}?x=1`)).status, 200, path);
});

t.test('the routes that keys can call are those that accept them, without their upstreams', async (t) => {
  const config = {
    routes: [
      { prefix: '/api/store', upstream: 'app', scopes: { read: ['store:read'], DELETE: ['store:write'] } },
      { exact: '/report', upstream: 'app', accept: 'api_key', scopes: ['store:read'] },
      { prefix: '/sessions', upstream: 'app', accept: 'session' },
      { prefix: '/open', upstream: 'app', public: true },
      { prefix: '/', upstream: 'app' },
    ],
  };
  const { call } = await startKeyAdministration(t, { config });
  const { status, json } = await call('GET', 'routes');
  t.equal(status, 200);
  t.strictSame(json, [
    { path: '/api/store', exact: false, scopes: { read: ['store:read'], DELETE: ['store:write'] } },
    { path: '/report', exact: true, scopes: { '*': ['store:read'] } },
    { path: '/', exact: false, scopes: { '*': [] } },
  ]);
});
