import t from 'tap';
import { exchangeRaw } from '../support/clients/raw-client.ts';
import { startForwarding } from '../support/gateway/forwarding.ts';

t.test('an undefined path in an own area is 404 and never forwarded', async (t) => {
  const { api, key, upstream } = await startForwarding(t);
  const paths = [
    '/api/login',
    '/api/login/',
    '/api/login/nothing',
    '/api/login/access-token/more',
    '/api/login/refresh-token/more',
    '/api/login/idp/start',
    '/api/login/idp/exchange',
    '/api/login/idp/nothing',
    '/api/logout/more',
    '/api/bootstrap',
    '/api/bootstrap/nothing',
    '/api/admin/api-keys/a/b',
    '/api/self/sessions/a/b',
    '/api/self/password/x',
    '/api/admin/sessions/a/b',
    '/api/admin/scope-sets/a/b',
    '/api/admin/audit/a/b',
    '/.well-known/jwks.json/more',
  ];
  for (const path of paths)
    for (const method of ['GET', 'POST', 'PUT', 'DELETE'])
      t.match(
        await api.send({ method, path, apiKey: key }),
        { status: 404, json: { code: 'not_found' } },
        `${method} ${path}`,
      );
  t.equal(upstream.seen.length, 0);
});

t.test('a name that only begins like an own area is forwarded', async (t) => {
  const { api, key, upstream } = await startForwarding(t);
  const paths = [
    '/api/logins',
    '/api/login-page',
    '/api/logout2',
    '/api/admin/api-keyss',
    '/api/self',
    '/api/admin',
  ];
  for (const path of paths) t.equal((await api.send({ path, apiKey: key })).status, 200, path);
  t.equal(upstream.seen.length, paths.length);
});

t.test('another case of an own path is nobody’s', async (t) => {
  const { api, key, upstream } = await startForwarding(t);
  for (const path of [
    '/api/Login/access-token',
    '/API/logout',
    '/api/admin/API-keys/',
    '/.Well-Known/jwks.json',
  ])
    t.equal((await api.send({ path, apiKey: key })).status, 404, path);
  t.equal(upstream.seen.length, 0);
});

t.test('an area that is left to the upstream is forwarded as a whole', async (t) => {
  const own = ['self_sessions', 'self_password', 'admin_sessions', 'scope_sets', 'audit', 'users'];
  const endpoints = Object.fromEntries(own.map((name) => [name, 'upstream']));
  const { api, key, upstream } = await startForwarding(t, { endpoints });
  const paths = [
    '/api/self/sessions',
    '/api/self/password',
    '/api/admin/sessions/x',
    '/api/admin/scope-sets/',
    '/api/admin/audit',
    '/api/admin/users/x/y',
  ];
  for (const path of paths) t.equal((await api.send({ path, apiKey: key })).status, 200, path);
  t.same(
    upstream.seen.map((seen) => seen.target),
    paths,
  );
});

t.test('every own path is the same with and without one trailing slash', async (t) => {
  const { api, bearer } = await startForwarding(t);
  const rows: [string, string][] = [
    ['GET', '/api/admin/api-keys'],
    ['GET', '/api/admin/api-keys/scopes'],
    ['GET', '/api/admin/api-keys/routes'],
    ['GET', '/api/admin/api-keys/filters'],
    ['GET', '/api/admin/api-keys/unknown-id'],
    ['GET', '/api/self/sessions'],
    ['GET', '/api/admin/sessions/filters'],
    ['DELETE', '/api/admin/sessions/unknown-id'],
    ['GET', '/.well-known/jwks.json'],
    ['POST', '/api/login/access-token'],
    ['POST', '/api/login/refresh-token'],
    ['POST', '/api/bootstrap/activate'],
  ];
  for (const [method, path] of rows) {
    const [without, withSlash] = [
      await api.send({ method, path, bearer }),
      await api.send({ method, path: `${path}/`, bearer }),
    ];
    t.equal(withSlash.status, without.status, path);
    t.notMatch([301, 302, 307, 308], [without.status], 'and none redirects');
    t.equal((await api.send({ method, path: `${path}//`, bearer })).status, 400);
  }
});

t.test('HEAD is served where GET is, except on sign-out', async (t) => {
  const { api, bearer, port, key } = await startForwarding(t);
  for (const path of ['/.well-known/jwks.json', '/api/admin/api-keys/', '/api/admin/api-keys/filters']) {
    const get = await api.send({ path, bearer });
    const head = await api.send({ method: 'HEAD', path, bearer });
    t.equal(head.status, 200, path);
    t.equal(head.text, '');
    t.equal(head.headers['content-length'], get.headers['content-length']);
  }
  t.equal((await api.send({ method: 'HEAD', path: '/api/admin/api-keys/' })).status, 401);
  const out = await api.send({ method: 'HEAD', path: '/api/logout', bearer });
  t.equal(out.status, 405);
  t.equal(out.headers.allow, 'GET, OPTIONS');
  t.equal((await api.send({ path: '/api/store/x', bearer })).status, 200, 'and nobody was signed out');
  const bytes = `HEAD /.well-known/jwks.json HTTP/1.1\r\nHost: a\r\nConnection: close\r\nX-API-Key: ${key}\r\n\r\n`;
  t.equal((await exchangeRaw(port, bytes)).responses[0]?.body.length, 0);
});

t.test('OPTIONS that is not a preflight lists the methods, to any caller', async (t) => {
  const { api } = await startForwarding(t);
  const rows: Record<string, string> = {
    '/api/login/access-token': 'POST, OPTIONS',
    '/api/logout': 'GET, OPTIONS',
    '/api/admin/api-keys/': 'GET, HEAD, POST, OPTIONS',
    '/api/admin/api-keys/x': 'GET, HEAD, DELETE, OPTIONS',
    '/.well-known/jwks.json': 'GET, HEAD, OPTIONS',
  };
  for (const [path, allow] of Object.entries(rows)) {
    const response = await api.send({ method: 'OPTIONS', path });
    t.equal(response.status, 204, path);
    t.equal(response.headers.allow, allow);
    t.equal(response.text, '');
    t.equal(response.headers['cache-control'], 'no-store');
    const refused = await api.send({ method: 'PATCH', path });
    t.equal(refused.status, 405);
    t.equal(refused.headers.allow, allow);
  }
});

t.test('checks come in their order', async (t) => {
  const { api, bearer, raw, port } = await startForwarding(t);
  const big = 'x'.repeat(65 * 1024);
  const keys = '/api/admin/api-keys/';
  const reader = await api.mintKey(bearer, { label: 'r', scopes: ['apikeys:read'] });
  const post = (more: object) => api.send({ method: 'POST', path: keys, json: {}, ...more });
  t.equal((await api.send({ method: 'PATCH', path: keys, body: big })).status, 405, 'method before size');
  t.equal((await api.send({ method: 'POST', path: keys, body: big })).status, 413, 'size before credential');
  t.equal((await post({})).status, 401, 'credential before fields');
  t.equal((await post({ apiKey: reader.key })).status, 403, 'scopes before fields');
  t.equal((await post({ bearer })).status, 422);
  const ambiguous = raw('POST /api/admin//api-keys HTTP/1.1', ['Content-Length: 900000']);
  t.equal((await exchangeRaw(port, ambiguous)).responses[0]?.status, 400, 'ambiguity before all');
});

t.test('bodies of own endpoints are bounded by own_body', async (t) => {
  const gateway = await startForwarding(t, { limits: { own_body: '1KiB' } });
  const login = 'POST /api/login/access-token HTTP/1.1';
  const form = 'Content-Type: application/x-www-form-urlencoded';
  const chunk = `200\r\n${'x'.repeat(512)}\r\n`;
  const rows: [string, string, number][] = [
    ['Content-Length: 1024', 'x'.repeat(1024), 422],
    ['Content-Length: 1025', 'x'.repeat(1025), 413],
    ['Content-Length: 999999999999', 'x', 413],
    ['Transfer-Encoding: chunked', `${chunk.repeat(2)}0\r\n\r\n`, 422],
    ['Transfer-Encoding: chunked', `${chunk.repeat(2)}1\r\nx\r\n0\r\n\r\n`, 413],
    ['Transfer-Encoding: chunked', chunk.repeat(1_000), 413],
  ];
  for (const [line, body, status] of rows) {
    const { responses, closed } = await exchangeRaw(
      gateway.port,
      gateway.raw(login, [form, line, 'Connection: close'], body),
    );
    t.equal(responses[0]?.status, status, `${line}, ${body.length}`);
    if (status === 413) t.match(responses[0]?.json, { code: 'body_too_large' });
    t.equal(closed, 'ended', 'the response is not lost');
  }
  const broken = gateway.raw(login, [form, 'Transfer-Encoding: chunked'], '3\r\nabc\r\nzz\r\n');
  t.match((await exchangeRaw(gateway.port, broken)).responses, [{ status: 400 }]);
  t.ok(await gateway.stillServes());
});

t.test('a body where none is expected is read and ignored', async (t) => {
  const gateway = await startForwarding(t);
  const jwks = 'GET /.well-known/jwks.json HTTP/1.1';
  const { responses } = await exchangeRaw(
    gateway.port,
    gateway.raw(jwks, ['Content-Length: 5'], 'hello') +
      gateway.raw(jwks, ['Transfer-Encoding: chunked'], '5\r\nhello\r\n0\r\n\r\n') +
      gateway.raw(jwks, ['Connection: close']),
  );
  t.same(
    responses.map((response) => response.status),
    [200, 200, 200],
  );
  const tooBig = gateway.raw(jwks, ['Content-Length: 70000'], 'x'.repeat(70_000));
  t.match((await exchangeRaw(gateway.port, tooBig)).responses, [{ status: 413 }]);
});

t.test('endpoints without authentication ignore credentials', async (t) => {
  const { api } = await startForwarding(t);
  const stale = { authorization: 'Bearer stale', 'x-api-key': 'stale' };
  const { username, password } = { username: 'ada', password: 'correct horse battery staple' };
  const login = {
    method: 'POST',
    path: '/api/login/access-token',
    form: { username, password },
    headers: stale,
  };
  t.equal((await api.send(login)).status, 200);
  t.equal((await api.send({ path: '/.well-known/jwks.json', headers: stale })).status, 200);
});

t.test('every response of Postern’s own has an id, and only the keys may be cached', async (t) => {
  const { api, bearer } = await startForwarding(t);
  const rows = ['/api/admin/api-keys/', '/api/login/nothing', '/nowhere', '/api/logout'];
  for (const path of rows) {
    const response = await api.send({ path, bearer });
    t.match(response.headers['x-request-id'], /^[0-9a-f-]{36}$/, path);
    t.equal(response.headers['cache-control'], 'no-store');
  }
  const jwks = await api.send({ path: '/.well-known/jwks.json' });
  t.equal(jwks.headers['cache-control'], 'public, max-age=300');
  t.match(jwks.headers['x-request-id'], /^[0-9a-f-]{36}$/);
});
