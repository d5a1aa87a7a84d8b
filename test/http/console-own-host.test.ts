import t from 'tap';
import { administrator } from '../support/gateway.ts';
import { cookieNamed, navigation, startWebGateway } from '../support/web.ts';

const refreshCookieName = 'service_refresh_cookie';
const service = 'https://acme.example.com';
const own = 'https://console.acme.example.com';
const host = 'console.acme.example.com';

t.test('no port of the console’s host leads to a service', async (t) => {
  const { api, signIn, upstream } = await startWebGateway(t, { web: { console: { base_url: own } } });
  const cookie = await signIn();
  // Browsers send cookies to every port of a host: a service there could use the console's.
  for (const port of [':8443', ':80', ':', '.:8443'])
    for (const path of ['/app', '/site', '/api/store', '/postern/console/'])
      t.equal(
        (await api.send({ path, cookie, headers: { ...navigation, host: `${host}${port}` } })).status,
        404,
        `${port} ${path}`,
      );
  t.equal(upstream.seen.length, 0);
  t.equal(
    (await api.send({ path: '/app', cookie, headers: { ...navigation, host: `${host}.uk` } })).status,
    200,
  );
});

t.test('pages of services can’t sign anyone in to or out of the console', async (t) => {
  const { api } = await startWebGateway(t, { web: { console: { base_url: own } } });
  const send = (path: string, origin: string, at = host) =>
    api.send({
      method: 'POST',
      path,
      form: { ...administrator, return_to: '/postern/console/' },
      headers: { host: at, origin, 'sec-fetch-site': 'same-site' },
    });
  for (const at of [host, `${host}:8443`])
    for (const path of ['/postern/sign-in', '/postern/sign-out', '/api/login/access-token'])
      t.match(await send(path, service, at), { status: 403, setCookies: [] }, `${at}${path}`);
  t.ok(cookieNamed(await send('/postern/sign-in', own), refreshCookieName));
  t.equal((await send('/api/login/access-token', own)).status, 200);
  t.equal((await send('/api/login/access-token', own, 'acme.example.com')).status, 200, 'but not in reverse');
});

t.test('no other page reads what the console’s host responds', async (t) => {
  const friend = 'https://app.acme.example.com';
  const { api } = await startWebGateway(t, {
    web: { console: { base_url: own } },
    cors: { origins: [friend] },
  });
  const { cookie } = await api.signIn(administrator.username, administrator.password);
  const refresh = (at: string) =>
    api.send({
      method: 'POST',
      path: '/api/login/refresh-token',
      cookie,
      headers: { host: at, origin: friend, 'sec-fetch-site': 'same-site' },
    });
  t.equal((await refresh('acme.example.com')).headers['access-control-allow-origin'], friend);
  for (const at of [host, `${host}:8443`])
    t.equal((await refresh(at)).headers['access-control-allow-origin'], undefined, at);
  const preflight = await api.send({
    method: 'OPTIONS',
    path: '/api/login/refresh-token',
    headers: { host, origin: friend, 'access-control-request-method': 'PUT' },
  });
  t.equal(preflight.headers['access-control-allow-methods'], undefined);
  const posted = await api.send({
    method: 'POST',
    path: '/api/login/access-token',
    form: { ...administrator },
    headers: { host, origin: friend, 'sec-fetch-site': 'same-site' },
  });
  t.equal(posted.status, 403);
});
