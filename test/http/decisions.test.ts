import t from 'tap';
import { httpModes, identityIn, startDeciding } from '../support/clients/decisions.ts';

const routes = [
  { prefix: '/api/store', upstream: 'none', scopes: { read: ['store:read'], write: ['store:write'] } },
  { prefix: '/api/open', upstream: 'none', public: true },
  { prefix: '/api/cors', upstream: 'none', preflight: 'upstream' },
  { prefix: '/pages', upstream: 'none', browser: true },
  { prefix: '/api', upstream: 'app' },
];
const config = { routes, web: {} };
const nobody = {
  'x-auth-subject': '',
  'x-auth-username': '',
  'x-auth-method': '',
  'x-auth-scopes': '',
  'x-auth-session-id': '',
  'x-auth-key-id': '',
  'x-auth-tenant': '',
  'x-auth-assertion': '',
};
const challenge = 'Bearer realm="acme"';

t.test('answers to each proxy', async (t) => {
  const { ask, api, bearer, key, keyId } = await startDeciding(t, config);
  const reader = await api.mintKey(bearer, { label: 'reader', scopes: ['store:read'] });
  const revoked = await api.mintKey(bearer, { label: 'revoked', scopes: ['store:read'] });
  await api.send({ method: 'DELETE', path: `/api/admin/api-keys/${revoked.id}`, bearer });
  const withKey = [`X-API-Key: ${key}`];
  const both = [`X-API-Key: ${key}`, `Authorization: Bearer ${bearer}`];
  const preflight = ['Origin: https://a.example', 'Access-Control-Request-Method: PUT'];

  type Row = [name: string, method: string, target: string, lines: string[], status: number, code?: string];
  const rows: Row[] = [
    ['a key', 'GET', '/api/store/x?q=1', withKey, 200],
    ['a token', 'GET', '/api/store/x', [`Authorization: Bearer ${bearer}`], 200],
    ['a route that has an upstream', 'GET', '/api/x', withKey, 200],
    ['nobody on a public route', 'DELETE', '/api/open/x', [], 200],
    ['a key on a public route', 'GET', '/api/open/x', withKey, 200],
    ['a preflight, where the service responds to it', 'OPTIONS', '/api/cors', preflight, 200],
    ['a preflight elsewhere', 'OPTIONS', '/api/x', preflight, 401, 'not_authenticated'],
    ['nobody', 'GET', '/api/x', [], 401, 'not_authenticated'],
    ['a wrong key', 'GET', '/api/x', ['X-API-Key: pst_x'], 401, 'invalid_api_key'],
    ['a wrong key on a public route', 'GET', '/api/open/x', ['X-API-Key: pst_x'], 401, 'invalid_api_key'],
    ['a revoked key', 'GET', '/api/store/x', [`X-API-Key: ${revoked.key}`], 401, 'invalid_api_key'],
    ['two credentials', 'GET', '/api/x', both, 400, 'ambiguous_credentials'],
    [
      'a scope that is missing',
      'PUT',
      '/api/store/x',
      [`X-API-Key: ${reader.key}`],
      403,
      'insufficient_scope',
    ],
    ['no route', 'GET', '/elsewhere', withKey, 404, 'not_found'],
    ['an own path', 'GET', '/api/admin/api-keys/', withKey, 404, 'not_found'],
    ['an own area', 'POST', '/api/login/access-token', [], 404, 'not_found'],
    ['the keys of tokens', 'GET', '/.well-known/jwks.json', [], 404, 'not_found'],
    ['the pages', 'GET', '/postern/', [], 404, 'not_found'],
    ['a preflight for an own path', 'OPTIONS', '/api/logout', preflight, 404, 'not_found'],
    ['a browser on its route', 'GET', '/pages', ['Accept: text/html'], 401, 'not_authenticated'],
    ['a method that no path serves', 'TRACE', '/api/x', withKey, 405, 'method_not_allowed'],
    ['a dot segment', 'GET', '/api/open/../store', withKey, 400, 'bad_request'],
    ['an encoded slash', 'GET', '/api/open%2f..', withKey, 400, 'bad_request'],
    ['two slashes', 'GET', '//api/open', withKey, 400, 'bad_request'],
    ['a path that another server reads otherwise', 'GET', '/API/store/x', withKey, 404, 'not_found'],
    [
      'a token as a subprotocol',
      'GET',
      '/api/x',
      ['Sec-WebSocket-Protocol: postern.bearer.x'],
      400,
      'bad_request',
    ],
    [
      'such a token in other letters',
      'GET',
      '/api/x',
      ['Sec-WebSocket-Protocol: a, Postern.Bearer.x'],
      400,
      'bad_request',
    ],
  ];
  for (const mode of httpModes)
    await t.test(mode, async (t) => {
      for (const [name, method, target, lines, status, code] of rows)
        await t.test(name, async (t) => {
          const answer = await ask(mode, { method, target, lines });
          const isNginx = mode.endsWith('nginx') && status >= 400 && status !== 401;
          t.equal(answer.status, isNginx ? 403 : status);
          t.strictSame(answer.values('cache-control'), ['no-store']);
          t.equal(answer.values('x-request-id').length, 1);
          t.strictSame(answer.values('x-auth-code'), code === undefined ? [] : [code]);
          t.equal(answer.json?.code, code, 'the body is that of the gateway');
          if (status === 200) t.equal(answer.body.length, 0);
          if (code === 'not_authenticated') t.strictSame(answer.values('www-authenticate'), [challenge]);
          if (code === 'insufficient_scope')
            t.match(answer.values('www-authenticate'), [/error="insufficient_scope", scope="store:write"/]);
        });
      if (mode === 'envoy') return;
      await t.test('every name, every time', async (t) => {
        t.match(identityIn(await ask(mode, { target: '/api/store/x', lines: withKey })), {
          ...nobody,
          'x-auth-subject': /^[0-9a-f-]{36}$/,
          'x-auth-username': 'ada',
          'x-auth-method': 'api_key',
          'x-auth-scopes': 'apikeys:read store:read store:write',
          'x-auth-key-id': keyId,
          'x-auth-tenant': 'acme',
        });
        const session = await ask(mode, { target: '/api/x', lines: [`Authorization: Bearer ${bearer}`] });
        t.match(identityIn(session), { 'x-auth-session-id': /^.{36}$/, 'x-auth-key-id': '' });
        t.strictSame(identityIn(await ask(mode, { target: '/api/open/x' })), nobody);
        t.strictSame(
          identityIn(await ask(mode, { method: 'OPTIONS', target: '/api/cors', lines: preflight })),
          nobody,
        );
      });
    });
});

t.test('a revoked key is refused by the very next decision', async (t) => {
  const { ask, api, bearer } = await startDeciding(t, config);
  const { id, key } = await api.mintKey(bearer, { label: 'k', scopes: ['store:read'] });
  const question = { target: '/api/store/x', lines: [`X-API-Key: ${key}`] };
  for (const mode of httpModes) t.equal((await ask(mode, question)).status, 200, mode);
  await api.send({ method: 'DELETE', path: `/api/admin/api-keys/${id}`, bearer });
  for (const mode of httpModes) t.equal((await ask(mode, question)).status, 401, mode);
});

t.test('names that an upstream chose are answered on every route', async (t) => {
  const { ask, key } = await startDeciding(t, {
    routes,
    web: {},
    upstreams: {
      app: {
        url: 'builtin:echo',
        identity_headers: { 'Remote-User': 'username', 'X-WEBAUTH-EMAIL': 'email' },
      },
    },
  });
  const own = await ask('nginx', { target: '/api/x', lines: [`X-API-Key: ${key}`, 'Remote-User: eve'] });
  t.strictSame([own.status, own.values('remote-user'), own.values('x-webauth-email')], [200, ['ada'], ['']]);
  const other = await ask('nginx', { target: '/api/open/x' });
  t.strictSame([other.values('remote-user'), other.values('x-webauth-email')], [[''], ['']]);
});

t.test('a route without an upstream is 404 on the public listener, whoever calls', async (t) => {
  const { api, key, upstream } = await startDeciding(t, config);
  for (const path of ['/api/store/x', '/api/open/x'])
    for (const headers of [{}, { apiKey: key }])
      t.match(await api.send({ path, ...headers }), { status: 404, json: { code: 'not_found' } }, path);
  t.equal((await api.send({ path: '/api/x', apiKey: key })).status, 200);
  t.equal(upstream.seen.length, 1);
});
