import t from 'tap';
import {
  createRoute,
  createRouteTable,
  type RouteOptions,
  type RouteTable,
} from '../../src/proxy/route-table.ts';
import { readPath } from '../../src/rules/lax-path.ts';
import { routeOptions } from '../support/gateway/route-options.ts';

/** `=` before a path: exact. */
const table = (...paths: string[]) =>
  createRouteTable(
    paths.map((label) =>
      createRoute({ ...routeOptions, label, path: label.replace('=', ''), exact: label.startsWith('=') }),
    ),
  );

/** The route of a path, as a request is judged. */
function find(routes: RouteTable, path: string) {
  const route = routes.spelled(path);
  if (route !== undefined) routes.assertNoneCloser(route, readPath(path).paths);
  return route;
}

function found(routes: string[], path: string): string {
  try {
    return find(table(...routes), path)?.label ?? 'not_found';
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

t.test('no other reading of a path leads to a laxer route', (t) => {
  const rows: [string, string[], string, string][] = [
    [
      'an escape of what the closer route has plain',
      ['/x', '/x/items:purge'],
      '/x/items%3apurge',
      'not_found',
    ],
    ['in capitals', ['/x', '/x/items:purge'], '/x/items%3Apurge', 'not_found'],
    ['below the closer route', ['/x', '/x/@admin'], '/x/%40admin/users', 'not_found'],
    ['the closer route with the escape', ['/x', '/x/items%3Apurge'], '/x/items:purge', 'not_found'],
    ['its escape in the other case', ['/x', '/x/items%3Apurge'], '/x/items%3apurge', 'not_found'],
    ['escape and case together', ['/x', '/x/Items:Purge'], '/x/items%3apurge', 'not_found'],
    ['of an exact route', ['/x', '=/x/a$'], '/x/a%24', 'not_found'],
    ['of an exact route with a trailing slash', ['/x', '=/x/a$'], '/x/a%24/', 'not_found'],
    ['an escaped slash', ['/x', '/x/admin'], '/x%2fadmin', 'not_found'],
    ['an escaped slash to the closer one', ['/x', '/x/y/admin'], '/x/y%2Fadmin/z', 'not_found'],
    ['an escaped slash beside a plain one', ['/x', '/x/admin'], '/x/%2fadmin', 'not_found'],
    ['an escaped slash at the end', ['/x', '=/x/admin'], '/x/admin%2f', 'not_found'],
    ['what follows a semicolon is cut', ['/x', '/x/admin'], '/x/admin;v=1/users', 'not_found'],
    ['a semicolon that begins the query', ['/x', '=/x/admin'], '/x/admin;v=1/users', 'not_found'],
    ['the same, encoded', ['/x', '=/x/admin'], '/x/admin%3bv=1/users', 'not_found'],
    ['the same after an escape', ['/x', '=/x/a:b'], '/x/a%3ab;v/c%3bd', 'not_found'],
    ['a semicolon alone', ['/x', '/x/admin'], '/x/;/admin', 'not_found'],
    ['an escaped semicolon', ['/x', '/x/admin'], '/x/admin%3bv', 'not_found'],
    ['cut, then decoded', ['/x', '/x/a/b/d'], '/x/a%2fb;x%2fc/d', 'not_found'],
    ['decoded, then cut', ['/x', '/x/a/b/c/d'], '/x/a%2fb;x%2fc/d', 'not_found'],
    ['cut, decoded and cut again', ['/x', '/x/a/c'], '/x/a%3bb;d/c', 'not_found'],
    ['a semicolon that the laxer route has', ['/x;v', '/x/admin'], '/x;v/admin', 'not_found'],
    ['letters that meet in the other case', ['/x', '/x/keys'], '/x/%E2%84%AAeys', 'not_found'],
    ['a letter that Go makes another one of', ['/x', '/x/admin'], '/x/adm%C4%B0n', 'not_found'],
    ['a capital that only small letters make', ['/x', '/x/stra%C3%9Fe'], '/x/STRA%E1%BA%9EE', 'not_found'],
    ['capitals beyond ASCII', ['/x', '/x/%C3%A9'], '/x/%C3%89', 'not_found'],
    ['escapes that read as no closer route pass', ['/x', '/x/a:b'], '/x/c%3ad', '/x'],
    ['a route with an escape serves its own spelling', ['/x', '/x/a%3Ab'], '/x/a%3Ab/c', '/x/a%3Ab'],
    ['a route with a semicolon serves its own spelling', ['/x', '/x/a;v1'], '/x/a;v1/c', '/x/a;v1'],
    ['a closer route serves escapes below it', ['/x', '/x/a'], '/x/a/b%3ac', '/x/a'],
  ];
  for (const [name, routes, path, label] of rows) t.equal(found(routes, path), label, name);
  t.end();
});

t.test('a path costs no more for having thousands of segments', (t) => {
  const deep = '/A'.repeat(8_000);
  t.equal(found(['/x'], deep), 'not_found');
  t.equal(found(['/x', '=/y', '/'], deep), '/');
  t.equal(found(['/x', '/a/a', '/a/a/b'], `/a/a${deep}`), '/a/a');
  t.equal(found(['/a/a', '/a/a/a/a/a'], `/a/a${deep}`), 'not_found', 'in any case');
  const routes = table('/x', '/a');
  // With a look-up for each of its segments this would not come to its end.
  const all = new Set(Array.from({ length: 400 }, (_, i) => find(routes, `/a/${i}${deep}`)?.label));
  t.same([...all], ['/a']);
  t.end();
});

t.test('scopes by method', (t) => {
  const scopesFor = (scopes: RouteOptions['scopes'], method: string) =>
    createRoute({ ...routeOptions, scopes }).scopesFor(method);
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
  t.same(scopesFor({ read: [], GET: ['g'] }, 'HEAD'), ['g'], 'what GET needs, HEAD needs too');
  t.same(scopesFor({ read: ['r'], GET: ['g'], HEAD: [] }, 'HEAD'), [], 'unless it has an entry of its own');
  t.same(scopesFor({ read: ['r'], HEAD: ['h'] }, 'GET'), ['r'], 'and not the other way round');
  t.throws(() => scopesFor({ write: ['w'], GET: ['g'] }, 'OPTIONS'), {
    code: 'method_not_allowed',
    options: { allow: ['POST', 'PUT', 'PATCH', 'DELETE', 'GET', 'HEAD'] },
  });
  t.throws(() => scopesFor({ read: [], GET: [] }, 'toString'), { code: 'method_not_allowed' });
  t.end();
});
