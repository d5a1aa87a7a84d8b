import t from 'tap';
import { createRoute, createRouteTable, type RouteOptions } from '../../src/proxy/route-table.ts';

const options: RouteOptions = {
  label: '',
  path: '/',
  exact: false,
  upstream: null as never,
  isPublic: false,
  acceptsSession: true,
  acceptsApiKey: true,
  scopes: [],
  maxBodyBytes: Number.POSITIVE_INFINITY,
  upgrades: new Set(),
  connectTimeoutMs: 1_000,
  responseTimeoutMs: 1_000,
  idleTimeoutMs: 1_000,
};

/** `=` before a path: exact. */
const table = (...paths: string[]) =>
  createRouteTable(
    paths.map((label) =>
      createRoute({ ...options, label, path: label.replace('=', ''), exact: label.startsWith('=') }),
    ),
  );

function found(routes: string[], path: string): string {
  try {
    return table(...routes).find(path).label;
  } catch (error) {
    return (error as { code: string }).code;
  }
}

t.test('the path alone decides', (t) => {
  const rows: [string, string[], string, string][] = [
    ['a prefix matches itself', ['/api'], '/api', '/api'],
    ['a prefix matches with a trailing slash', ['/api'], '/api/', '/api'],
    ['a prefix matches what is below it', ['/api'], '/api/a/b', '/api'],
    ['a prefix matches whole segments', ['/api'], '/apix', 'not_found'],
    ['the longest prefix wins', ['/', '/api', '/api/store'], '/api/store/1', '/api/store'],
    ['the longest prefix wins in any order', ['/api/store', '/api', '/'], '/api/store/1', '/api/store'],
    ['a longer name is no longer prefix', ['/api', '/api/store'], '/api/stores', '/api'],
    ['the root matches everything', ['/'], '/anything', '/'],
    ['the root matches itself', ['/'], '/', '/'],
    ['exact matches itself', ['=/api/one', '/api'], '/api/one', '=/api/one'],
    ['exact matches with one trailing slash', ['=/api/one', '/api'], '/api/one/', '=/api/one'],
    ['exact matches nothing below it', ['=/api/one', '/api'], '/api/one/two', '/api'],
    ['exact comes before a prefix of the same path', ['/api/one', '=/api/one'], '/api/one', '=/api/one'],
    ['exact at the root matches the root alone', ['=/', '/api'], '/', '=/'],
    ['exact at the root matches nothing else', ['=/', '/api'], '/x', 'not_found'],
    ['no route', ['/api'], '/', 'not_found'],
    ['no routes at all', [], '/api', 'not_found'],
  ];
  for (const [name, routes, path, label] of rows) t.equal(found(routes, path), label, name);
  t.end();
});

t.test('another case never leads to a laxer route', (t) => {
  const rows: [string, string[], string, string][] = [
    ['of a longer prefix', ['/api', '/api/store'], '/api/Store/1', 'not_found'],
    ['of an exact route', ['/api', '=/api/one'], '/api/ONE', 'not_found'],
    ['of an exact route with a trailing slash', ['/api', '=/api/one'], '/api/ONE/', 'not_found'],
    ['of the whole prefix', ['/', '/api'], '/API/x', 'not_found'],
    ['of a route written in capitals', ['/api', '/api/Store'], '/api/store', 'not_found'],
    ['of an escape', ['/api', '/api/%C3%A9'], '/api/%c3%a9', 'not_found'],
    ['below the route in any case', ['/api', '/api/store'], '/api/store/ABC', '/api/store'],
    [
      'of two routes that differ in case the one spelled',
      ['/api/Store', '/api/store'],
      '/api/Store',
      '/api/Store',
    ],
    ['of nothing more specific', ['/api'], '/api/Other', '/api'],
    ['where there is no laxer route', ['/api/store'], '/api/STORE', 'not_found'],
  ];
  for (const [name, routes, path, label] of rows) t.equal(found(routes, path), label, name);
  t.end();
});

t.test('scopes by method', (t) => {
  const scopesFor = (scopes: RouteOptions['scopes'], method: string) =>
    createRoute({ ...options, scopes }).scopesFor(method);
  t.same(scopesFor(['a', 'b'], 'GET'), ['a', 'b'], 'a list is for every method');
  t.same(scopesFor(['a', 'b'], 'PROPFIND'), ['a', 'b']);
  for (const method of ['GET', 'HEAD', 'OPTIONS'])
    t.same(scopesFor({ read: ['r'], write: ['w'] }, method), ['r'], method);
  for (const method of ['POST', 'PUT', 'PATCH', 'DELETE', 'PROPFIND', 'QUERY'])
    t.same(scopesFor({ read: ['r'], write: ['w'] }, method), ['w'], method);
  t.same(scopesFor({ read: ['r'], write: ['w'], DELETE: ['d'] }, 'DELETE'), ['d'], 'its own entry replaces');
  t.same(scopesFor({ read: ['r'], OPTIONS: [] }, 'OPTIONS'), [], 'also with no scope at all');
  t.throws(() => scopesFor({ read: ['r'] }, 'POST'), {
    code: 'method_not_allowed',
    options: { allow: ['GET', 'HEAD', 'OPTIONS'] },
  });
  t.throws(() => scopesFor({ write: ['w'], GET: ['g'] }, 'HEAD'), {
    code: 'method_not_allowed',
    options: { allow: ['POST', 'PUT', 'PATCH', 'DELETE', 'GET'] },
  });
  t.throws(() => scopesFor({ read: [], GET: [] }, 'toString'), { code: 'method_not_allowed' });
  t.end();
});
