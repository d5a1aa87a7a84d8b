import t from 'tap';
import { exchangeRaw, type RawResponse } from '../support/clients/raw-client.ts';
import { startForwarding } from '../support/gateway/forwarding.ts';

const ours = 'https://app.example';
const preflight = (origin = ours, method = 'PUT') => [
  `Origin: ${origin}`,
  `Access-Control-Request-Method: ${method}`,
  'Access-Control-Request-Headers: authorization,x-custom',
];
const corsOf = (response: RawResponse | undefined) =>
  response?.rawHeaders.filter((text, i) => i % 2 === 0 && /^access-control-/i.test(text)) ?? [];

const routes = (more: object = {}) => [
  { prefix: '/api/store', upstream: 'app', scopes: { read: ['store:read'] }, ...more },
  { prefix: '/api/open', upstream: 'app', public: true, ...more },
];

async function scene(t: Parameters<typeof startForwarding>[0], origins: readonly string[], more?: object) {
  const gateway = await startForwarding(t, { cors: { origins }, routes: routes(more) });
  gateway.upstream.response = (_request, response) =>
    response.writeHead(200, { 'Access-Control-Allow-Origin': '*', Vary: 'Accept' }).end('up');
  /** Sends those lines without a credential unless they hold one. */
  const ask = async (requestLine: string, lines: readonly string[] = []) => {
    const head = [`${requestLine} HTTP/1.1`, 'Host: a', 'Connection: close', ...lines, '', ''];
    return (await exchangeRaw(gateway.port, head.join('\r\n'))).responses[0];
  };
  return { gateway, ask, withKey: `X-API-Key: ${gateway.key}` };
}

t.test('with origins configured Postern answers every preflight', async (t) => {
  const { gateway, ask, withKey } = await scene(t, [ours, 'https://other.example:8443']);
  const paths = ['/api/store/x', '/api/open/x', '/api/login/access-token', '/api/nothing-here', '/nowhere'];
  for (const path of paths) {
    const response = await ask(`OPTIONS ${path}`, preflight());
    t.equal(response?.status, 204, path);
    t.same(response?.values('access-control-allow-origin'), [ours]);
    t.same(response?.values('access-control-allow-credentials'), ['true']);
    t.same(response?.values('access-control-allow-methods'), ['PUT']);
    t.same(response?.values('access-control-allow-headers'), ['authorization,x-custom']);
    t.same(response?.values('access-control-max-age'), ['600']);
    t.same(response?.values('vary'), ['Origin']);
    t.same(response?.values('cache-control'), ['no-store']);
    t.equal(response?.values('x-request-id').length, 1);
  }
  t.same((await ask('OPTIONS /api/store/x', [...preflight(), withKey]))?.status, 204, 'with a key too');
  t.same((await ask('OPTIONS /api/store/x', [...preflight(), 'X-API-Key: bad']))?.status, 204);
  t.equal(gateway.upstream.seen.length, 0);
  t.equal((await ask('OPTIONS /api//x', preflight()))?.status, 400, 'what is ambiguous comes first');
});

t.test('a preflight of another origin is told nothing', async (t) => {
  const { ask } = await scene(t, [ours]);
  const others = [
    'https://evil.example',
    'https://app.example.evil.example',
    'http://app.example',
    'https://app.example:8443',
    'https://APP.example',
    'https://app.example/',
    'null',
    '',
  ];
  for (const origin of others) {
    const response = await ask('OPTIONS /api/store/x', preflight(origin));
    t.equal(response?.status, 204, origin);
    t.same(corsOf(response), []);
    t.same(response?.values('vary'), ['Origin']);
  }
});

t.test('requests that are no preflights go their way', async (t) => {
  const { gateway, ask, withKey } = await scene(t, [ours]);
  const rows: Record<string, string[]> = {
    'no method asked for': [`Origin: ${ours}`],
    'no origin': ['Access-Control-Request-Method: PUT'],
    'two origins': [`Origin: ${ours}`, ...preflight()],
    'two methods': [...preflight(), 'Access-Control-Request-Method: GET'],
  };
  for (const [name, lines] of Object.entries(rows)) {
    t.equal((await ask('OPTIONS /api/store/x', lines))?.status, 401, name);
    t.equal((await ask('OPTIONS /api/store/x', [...lines, withKey]))?.status, 200);
  }
  t.equal((await ask('GET /api/store/x', preflight()))?.status, 401, 'only OPTIONS is one');
  t.equal(gateway.upstream.seen.length, 4);
});

t.test('with origins configured Postern owns Access-Control-* on every response', async (t) => {
  const { ask, withKey } = await scene(t, [ours]);
  const exposed = 'X-Request-Id, WWW-Authenticate, Retry-After, ETag, Mcp-Session-Id';
  const rows: [string, string, string[], number][] = [
    ['a forwarded answer', 'GET /api/store/x', [withKey], 200],
    ['an own answer', 'GET /.well-known/jwks.json', [], 200],
    ['a 401', 'GET /api/store/x', [], 401],
    ['a 404', 'GET /nowhere', [], 404],
    ['a 405', 'DELETE /api/login/access-token', [], 405],
    ['a 400', 'GET /api//x', [], 400],
    ['a 431', 'GET /api/store/x', Array.from({ length: 120 }, (_, i) => `X-${i}: a`), 431],
  ];
  for (const [name, line, lines, status] of rows) {
    const response = await ask(line, [...lines, `Origin: ${ours}`]);
    t.equal(response?.status, status, name);
    t.same(response?.values('access-control-allow-origin'), [ours]);
    t.same(response?.values('access-control-allow-credentials'), ['true']);
    t.same(response?.values('access-control-expose-headers'), [exposed]);
    t.ok(response?.values('vary').includes('Origin'));

    const foreign = await ask(line, [...lines, 'Origin: https://evil.example']);
    t.equal(foreign?.status, status);
    t.same(corsOf(foreign), [], 'another origin');
    t.ok(foreign?.values('vary').includes('Origin'));
  }
});

t.test('pages may read the headers that cors.expose names, too', async (t) => {
  const { port } = await startForwarding(t, { cors: { origins: [ours], expose: ['X-Total', 'Link'] } });
  const head = ['GET /api/store/x HTTP/1.1', 'Host: a', 'Connection: close', `Origin: ${ours}`, '', ''];
  const [response] = (await exchangeRaw(port, head.join('\r\n'))).responses;
  t.same(response?.values('access-control-expose-headers'), [
    'X-Request-Id, WWW-Authenticate, Retry-After, ETag, Mcp-Session-Id, X-Total, Link',
  ]);
});

t.test('without origins a preflight for an own path is 204 without CORS headers', async (t) => {
  const { gateway, ask } = await scene(t, []);
  for (const path of ['/api/login/access-token', '/api/admin/api-keys/', '/api/login/nothing']) {
    const response = await ask(`OPTIONS ${path}`, preflight());
    t.equal(response?.status, 204, path);
    t.same(corsOf(response), []);
  }
  t.equal(gateway.upstream.seen.length, 0);
});

t.test('without origins a preflight is a request like any other', async (t) => {
  const { gateway, ask, withKey } = await scene(t, []);
  const rows: [string, string, string[], number][] = [
    ['without a credential', '/api/store/x', [], 401],
    ['with a bad key', '/api/store/x', ['X-API-Key: bad'], 401],
    ['with a key', '/api/store/x', [withKey], 200],
    ['on a public route', '/api/open/x', [], 200],
    ['on a public route with a bad key', '/api/open/x', ['X-API-Key: bad'], 401],
    ['where no route is', '/nowhere', [withKey], 404],
  ];
  for (const [name, path, lines, status] of rows) {
    const before = gateway.upstream.seen.length;
    t.equal((await ask(`OPTIONS ${path}?a=1`, [...preflight(), ...lines]))?.status, status, name);
    t.equal(gateway.upstream.seen.length - before, status === 200 ? 1 : 0);
  }
  const [withIdentity, open] = gateway.upstream.seen;
  t.equal(withIdentity?.values('x-auth-subject').length, 1);
  t.equal(withIdentity?.target, '/api/store/x?a=1');
  t.same(open?.values('x-auth-subject'), []);
});

t.test('a preflight that a route passes on goes up as nobody’s, without its query', async (t) => {
  const { gateway, ask, withKey } = await scene(t, [], { preflight: 'upstream' });
  const rows: Record<string, string[]> = {
    'as browsers send it': [],
    'with a key': [withKey],
    'with a bad key': ['X-API-Key: bad'],
    'with a token': [`Authorization: Bearer ${gateway.bearer}`],
    'with another scheme': ['Authorization: Basic YTpi'],
    'with two credentials': [withKey, `Authorization: Bearer ${gateway.bearer}`],
    'with cookies': [`Cookie: ${gateway.cookie}; a=1`],
    'with an identity of its own making': [
      'X-Auth-Subject: evil',
      'X_Auth_Scopes: evil',
      'Remote-User: evil',
    ],
  };
  const credentials = ['authorization', 'x-api-key', 'cookie', 'x-auth-subject', 'x_auth_scopes'];
  for (const path of ['/api/store/x', '/api/open/x'])
    for (const [name, lines] of Object.entries(rows)) {
      const response = await ask(`OPTIONS ${path}?token=secret`, [...preflight(), ...lines]);
      t.match(response, { status: 200, text: 'up' }, name);
      t.same(response?.values('access-control-allow-origin'), ['*'], 'CORS is the upstream’s');
      t.same(response?.values('cache-control'), []);
      const seen = gateway.upstream.seen.at(-1)!;
      t.equal(seen.target, path);
      for (const header of [...credentials, 'remote-user']) t.same(seen.values(header), [], header);
      t.same(seen.values('origin'), [ours]);
      t.same(seen.values('access-control-request-method'), ['PUT']);
    }
  t.equal((await ask('OPTIONS /nowhere', preflight()))?.status, 404);
  const noPreflights: Record<string, string[]> = {
    'with a body': [...preflight(), 'Content-Length: 1'],
    'without a method': [`Origin: ${ours}`],
    'with two origins': [`Origin: ${ours}`, ...preflight()],
    'for another protocol': [...preflight(), 'Connection: Upgrade', 'Upgrade: websocket'],
  };
  for (const [name, lines] of Object.entries(noPreflights))
    t.equal((await ask('OPTIONS /api/store/x', lines))?.status, 401, name);
  t.equal((await ask('GET /api/store/x', preflight()))?.status, 401, 'with another method');
});
