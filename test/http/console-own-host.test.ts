import t from 'tap';
import { administrator } from '../support/gateway/gateway.ts';
import { navigation, startWebGateway } from '../support/pages/web.ts';

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

t.test('a host that is shared with base_url is the console’s at its own port alone', async (t) => {
  const web = { console: { base_url: 'https://acme.example.com:8443' } };
  const { api, signIn } = await startWebGateway(t, { web });
  const cookie = await signIn();
  const at = async (host: string, path: string) =>
    (await api.send({ path, cookie, headers: { ...navigation, host } })).status;
  t.equal(await at('acme.example.com', '/app'), 200);
  t.equal(await at('acme.example.com', '/postern/console/'), 404);
  t.equal(await at('acme.example.com:8443', '/app'), 404);
  t.equal(await at('acme.example.com:8443', '/postern/console/'), 200);
});

t.test('only the console’s host tells its name on the sign-in page', async (t) => {
  const { api } = await startWebGateway(t, { web: { console: { base_url: own } } });
  const pageAt = async (at: string) =>
    (await api.send({ path: '/postern/sign-in', headers: { ...navigation, host: at } })).text;
  for (const at of ['acme.example.com', 'other.example.com', `${host}.uk`]) {
    const page = await pageAt(at);
    t.match(page, 'data-origins="https://acme.example.com" hidden', at);
    t.notMatch(page, host, at);
  }
  t.match(await pageAt(host), `data-origins="https://acme.example.com ${own}" hidden`);
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
});
