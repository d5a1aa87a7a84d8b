import { globSync, readFileSync } from 'node:fs';
import t from 'tap';
import { atApiPath, createMayBeRead, ownAreas, pageSegments } from '../../src/rules/own-areas.ts';

t.test('the API is where api_path says, and nothing else moves', async (t) => {
  t.equal(atApiPath('/api/login/access-token', '/api'), '/api/login/access-token');
  t.equal(atApiPath('/api/admin/users/{id}', '/gate/v1'), '/gate/v1/admin/users/{id}');
  t.equal(atApiPath('/.well-known/jwks.json', '/gate'), '/.well-known/jwks.json');
  t.equal(atApiPath('/apis', '/gate'), '/apis');
});

t.test('a moved API is one area, whoever serves what', async (t) => {
  const keys = ['/.well-known/jwks.json', '/.well-known/postern-assertion-jwks.json'];
  for (const isUpstreams of [() => true, () => false])
    t.strictSame(ownAreas(isUpstreams, { apiPath: '/postern/api', webPath: '/postern' }), [
      '/postern/api',
      ...keys,
      '/postern',
    ]);
  const inPlace = ownAreas((name) => name === 'users', { apiPath: '/api', webPath: undefined });
  t.ok(inPlace.includes('/api/login') && inPlace.includes('/api/admin/sessions'));
  t.notOk(inPlace.includes('/api/admin/users') || inPlace.includes('/api'));
});

t.test('an area is recognised in every reading of it and of the path', async (t) => {
  const mayBeRead = createMayBeRead(['/Gate/api']);
  for (const path of ['/Gate/api', '/gate/API/x', '/g%61te/api', '/gate/api;x/y', '/gate%2Fapi'])
    t.ok(mayBeRead(path), path);
  for (const path of ['/gate', '/gate/apis', '/api', '/x/gate/api']) t.notOk(mayBeRead(path), path);
});

t.test('every page has its first segment in the list of those where no API can be', async (t) => {
  const sources = [...globSync('src/web/endpoints/*.ts'), 'src/gateway/web-area.ts'];
  const found = sources.flatMap((file) =>
    [...readFileSync(file, 'utf8').matchAll(/\{(?:area\.)?path\}\/([a-z][a-z.-]*)/g)].map(
      ([, name]) => name!,
    ),
  );
  t.ok(found.length >= 10, `${found}`);
  for (const name of found) t.ok(pageSegments.includes(name), name);
});
