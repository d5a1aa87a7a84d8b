import t from 'tap';
import { startForwarding } from '../support/gateway/forwarding.ts';

const upstream = { app: { url: 'builtin:echo' } };

t.test('access by kind of credential and by scope', async (t) => {
  const { api, bearer, key } = await startForwarding(t, {
    upstreams: upstream,
    routes: [
      { prefix: '/list', upstream: 'app', scopes: ['store:read', 'store:write'] },
      { prefix: '/map', upstream: 'app', scopes: { read: ['store:read'], write: ['store:write'] } },
      { prefix: '/own', upstream: 'app', scopes: { read: ['store:read'], GET: [], DELETE: ['users:write'] } },
      { prefix: '/none', upstream: 'app', scopes: [] },
      { prefix: '/sessions', upstream: 'app', accept: 'session' },
      { prefix: '/keys', upstream: 'app', accept: ['api_key'] },
      { prefix: '/public', upstream: 'app', public: true },
    ],
  });
  const reader = await api.mintKey(bearer, { label: 'r', scopes: ['store:read'] });
  const writer = await api.mintKey(bearer, { label: 'w', scopes: ['store:write'] });
  const other = await api.mintKey(bearer, { label: 'o', scopes: ['users:read'] });
  const rows: [string, string, string, string, number][] = [
    ['a list needs all of it', 'GET', '/list', key, 200],
    ['a list is for every method', 'POST', '/list', key, 200],
    ['a part of a list is not enough', 'GET', '/list', reader.key, 403],
    ['reading needs read', 'GET', '/map', reader.key, 200],
    ['HEAD reads', 'HEAD', '/map', reader.key, 200],
    ['OPTIONS reads', 'OPTIONS', '/map', reader.key, 200],
    ['writing needs write', 'POST', '/map', reader.key, 403],
    ['any other method writes', 'PROPFIND', '/map', reader.key, 403],
    ['write does not read', 'GET', '/map', writer.key, 403],
    ['write writes', 'PUT', '/map', writer.key, 200],
    ['a method’s own entry replaces the other', 'GET', '/own', other.key, 200],
    ['GET’s own entry covers HEAD', 'HEAD', '/own', other.key, 200],
    ['other methods keep the scopes of their kind', 'OPTIONS', '/own', other.key, 403],
    ['an own entry of a writing method', 'DELETE', '/own', key, 403],
    ['without scopes any credential is enough', 'DELETE', '/none', other.key, 200],
    ['a route only for sessions refuses a key', 'GET', '/sessions', key, 403],
    ['a route only for keys accepts a key', 'GET', '/keys', key, 200],
    ['a public route needs nothing', 'DELETE', '/public', other.key, 200],
  ];
  for (const [name, method, path, apiKey, status] of rows)
    t.equal((await api.send({ method, path, apiKey })).status, status, name);
  t.equal((await api.send({ path: '/sessions', bearer })).status, 200);

  t.match(await api.send({ path: '/keys', bearer }), { status: 403, json: { code: 'api_key_required' } });
  t.match(await api.send({ path: '/sessions', apiKey: key }), { json: { code: 'session_required' } });
  const refused = await api.send({ path: '/list', apiKey: reader.key });
  t.match(refused.json, { code: 'insufficient_scope', detail: 'Missing scope: store:write' });
  t.equal(
    refused.headers['www-authenticate'],
    'Bearer realm="acme", error="insufficient_scope", scope="store:read store:write"',
  );

  for (const method of ['POST', 'PATCH', 'PROPFIND']) {
    const response = await api.send({ method, path: '/own', apiKey: key });
    t.match(response, { status: 405, json: { code: 'method_not_allowed' } }, method);
    t.equal(response.headers.allow, 'GET, HEAD, OPTIONS, DELETE');
  }
  t.equal((await api.send({ method: 'POST', path: '/own' })).status, 401, '401 comes before 405 here');
});

t.test('a session holds what its user holds now', async (t) => {
  const { api, bearer } = await startForwarding(t);
  t.equal((await api.send({ method: 'DELETE', path: '/api/store/x', bearer })).status, 200);
  const { accessToken } = await api.signIn('ada', 'correct horse battery staple', { scope: 'store:read' });
  t.equal((await api.send({ path: '/api/store/x', bearer: accessToken })).status, 200);
  t.equal((await api.send({ method: 'DELETE', path: '/api/store/x', bearer: accessToken })).status, 403);
});
