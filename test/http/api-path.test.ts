import t from 'tap';
import { startDeciding } from '../support/clients/decisions.ts';
import { startForwarding } from '../support/gateway/forwarding.ts';
import { administrator } from '../support/gateway/gateway.ts';
import { startProviderGateway } from '../support/gateway/provider-gateway.ts';

const apiPath = '/gate/api';
const everything = [{ prefix: '/', upstream: 'app', public: true }];

t.test('every own path under /api is below api_path, and /api is the routes’', async (t) => {
  const { api, bearer, cookie, key, upstream } = await startForwarding(t, {
    api_path: apiPath,
    endpoints: { users: 'own', self: 'own' },
  });
  const reads = [
    '/admin/api-keys/',
    '/admin/users/',
    '/admin/sessions/',
    '/admin/scope-sets/',
    '/admin/audit/',
  ];
  for (const path of [...reads, '/self', '/self/sessions/'])
    t.equal((await api.send({ path: apiPath + path, bearer })).status, 200, path);
  t.match((await api.signIn(administrator.username, administrator.password)).response.setCookies, [
    /^service_refresh_cookie=[^;]+; Max-Age=\d+; Path=\/gate\/api; HttpOnly; Secure; SameSite=Lax$/,
  ]);
  t.equal((await api.refresh(cookie)).status, 200);
  const left = await api.send({ path: `${apiPath}/logout`, cookie });
  t.match(left, { status: 200, setCookies: [/^service_refresh_cookie=; Max-Age=0; Path=\/gate\/api; /] });
  t.equal((await api.refresh(cookie)).status, 401);
  t.equal(upstream.seen.length, 0);
  const before = [...reads, '/login/access-token', '/login/refresh-token', '/logout', '/bootstrap/activate'];
  for (const path of before)
    for (const method of ['GET', 'POST'])
      t.equal(
        (await api.send({ method, path: `/api${path}`, apiKey: key })).status,
        200,
        `${method} ${path}`,
      );
  t.strictSame(
    [...new Set(upstream.seen.map(({ target }) => target))],
    before.map((path) => `/api${path}`),
  );
});

t.test('all below api_path is Postern’s alone, whoever serves an endpoint', async (t) => {
  const names = [
    'bootstrap',
    'self',
    'self_sessions',
    'self_password',
    'admin_sessions',
    'scope_sets',
    'users',
    'audit',
  ];
  for (const servedBy of ['upstream', 'off']) {
    const { api, upstream } = await startForwarding(t, {
      api_path: apiPath,
      routes: everything,
      endpoints: { ...Object.fromEntries(names.map((name) => [name, servedBy])), bootstrap: 'own' },
    });
    const paths = [
      '',
      '/',
      '/nothing',
      '/self',
      '/self/sessions',
      '/self/password',
      '/login',
      '/login/idp/start',
    ];
    for (const path of [
      ...paths,
      '/admin/sessions/',
      '/admin/scope-sets/',
      '/admin/users/x',
      '/admin/audit/',
    ])
      t.match(
        await api.send({ path: apiPath + path }),
        { status: 404, json: { code: 'not_found' } },
        `${servedBy} ${path}`,
      );
    for (const path of ['/Gate/api/self', '/gate/API/login/access-token'])
      t.equal((await api.send({ path })).status, 404, 'nor is it another’s in another case');
    t.equal(upstream.seen.length, 0);
    for (const path of ['/gate', '/gate/apis', '/api/admin/users/x'])
      t.equal((await api.send({ path })).status, 200, path);
  }
});

t.test('an api_path with capitals is nobody’s in small letters', async (t) => {
  const { api, upstream } = await startForwarding(t, { api_path: '/Gate', routes: everything });
  t.equal((await api.send({ path: '/Gate/admin/api-keys/' })).status, 401);
  for (const path of ['/gate', '/gate/admin/api-keys/', '/GATE/login'])
    t.equal((await api.send({ path })).status, 404, path);
  t.equal(upstream.seen.length, 0);
  t.equal((await api.send({ path: '/gates' })).status, 200);
});

t.test('sign-in through a provider', async (t) => {
  const gateway = await startProviderGateway(t, undefined, { api_path: '/v1.0/gate' });
  const { api, begin, signIn, logOut, logoutToken, assertion } = gateway;
  const { response } = await begin({});
  t.match(response.setCookies, [/; Path=\/v1\.0\/gate\/login; /]);
  t.equal(response.headers['referrer-policy'], 'no-referrer');
  t.equal((await signIn()).status, 200);
  const exchange = '/v1.0/gate/login/idp/exchange?assertion=';
  t.equal((await api.send({ path: `${exchange}${assertion({ groups: 'x'.repeat(20_000) })}` })).status, 401);
  t.equal((await api.send({ path: `/api/login/idp/exchange?x=${'x'.repeat(10_000)}` })).status, 414);
  t.equal((await logOut(logoutToken())).status, 200);
  const unknown = await api.send({ path: '/v1.0/gate/login/nobody/exchange?assertion=x' });
  t.match(unknown, { status: 404, json: { code: 'not_found', error: /./ } });
  t.equal(unknown.headers['referrer-policy'], 'no-referrer');
  const other = await api.send({ path: '/v1x0/gate/login/nobody/exchange' });
  t.match(other, { status: 404, json: { code: 'not_found' } });
  t.equal(other.headers['referrer-policy'], undefined, 'a dot stands for a dot alone');
});

t.test('proxies that ask are told of /api by its routes, and of api_path nothing', async (t) => {
  const { ask, key } = await startDeciding(t, { api_path: apiPath, endpoints: { users: 'own' } });
  const lines = [`X-API-Key: ${key}`];
  for (const target of ['/api/login/access-token', '/api/admin/users/'])
    t.equal((await ask('traefik', { target, lines })).status, 200, target);
  for (const target of [`${apiPath}/login/access-token`, `${apiPath}/admin/users/`, `${apiPath}/x`])
    t.equal((await ask('traefik', { target, lines })).status, 404, target);
});

t.test('a reload moves the API', async (t) => {
  const { api, bearer, cookie, reload } = await startForwarding(t);
  await reload({ api_path: apiPath });
  t.equal((await api.send({ path: `${apiPath}/admin/api-keys/`, bearer })).status, 200);
  t.equal((await api.send({ method: 'POST', path: `${apiPath}/login/refresh-token`, cookie })).status, 200);
  t.match(
    await api.refresh(cookie),
    { status: 401, json: { code: 'not_authenticated' } },
    'a route’s answer',
  );
});
