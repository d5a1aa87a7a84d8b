import t from 'tap';
import { administrator, bootstrapToken, startTestGateway } from '../support/gateway/gateway.ts';
import { startProviderGateway } from '../support/gateway/provider-gateway.ts';
import { cookieNamed, navigation, ownForm, startWebGateway, webCookieName } from '../support/pages/web.ts';

const apiPath = '/postern/api';
const frontEnd = 'https://app.example.com';
const below = { api_path: apiPath, web: { console: {} }, cors: { origins: [frontEnd] } };
const form = { ...administrator };
const policy = 'content-security-policy';

t.test('the API below the pages has none of their headers and pages', async (t) => {
  const { api, open } = await startWebGateway(t, below);
  for (const path of ['/login/nothing', '/admin/api-keys/', '/a;b', '/login/idp/start', '']) {
    const response = await open(apiPath + path);
    t.equal(response.headers['content-type'], 'application/json', path);
    for (const name of [policy, 'cross-origin-opener-policy', 'x-content-type-options'])
      t.equal(response.headers[name], undefined, `${path} ${name}`);
  }
  const refused = await api.send({ path: `${apiPath}/admin/api-keys/`, headers: navigation });
  t.equal(refused.status, 401);
  t.equal(refused.json.sign_in, undefined);
  for (const path of ['/postern/nothing', '/postern/apis', '/postern/a;b']) {
    const page = await open(path);
    t.match(page.headers, { 'content-type': /^text\/html/, [policy]: /default-src 'none'/ }, path);
  }
});

t.test('who may post to it is as elsewhere: cors.origins count, others are foreign', async (t) => {
  const { api } = await startWebGateway(t, below);
  const post = (path: string, origin: string) =>
    api.send({
      method: 'POST',
      path,
      form,
      headers: {
        origin,
        'sec-fetch-site': 'cross-site',
        'sec-fetch-mode': 'cors',
        'sec-fetch-dest': 'empty',
      },
    });
  const login = `${apiPath}/login/access-token`;
  t.match(await post(login, frontEnd), { status: 200, headers: { 'access-control-allow-origin': frontEnd } });
  t.match(await post(login, 'https://evil.example'), { status: 403, json: { code: 'cross_site' } });
  t.equal((await post('/postern/sign-in', frontEnd)).status, 403, 'under the pages they never count');
});

t.test('the first administrator is made on a page', async (t) => {
  const { api } = await startTestGateway(t, { config: below });
  const activation = { method: 'POST', path: '/postern/activate', headers: ownForm };
  const activated = await api.send({ ...activation, form: { token: bootstrapToken, ...form } });
  t.match(activated, { status: 303, headers: { location: /^\/postern\// } });
  t.ok((await api.signIn(form.username, form.password)).accessToken);
});

t.test('pages know where it is', async (t) => {
  const { api, open, signIn } = await startWebGateway(t, below);
  const cookie = await signIn();
  t.match((await open('/postern/console/', cookie)).text, 'data-api="/postern/api"');
  t.equal((await open('/postern/invitation')).status, 200);
  t.equal((await open('/postern/password', cookie)).status, 200);
  const { json } = await api.send({ path: '/postern/openapi.json' });
  t.ok(json.paths['/postern/api/login/access-token']);
  t.notOk(Object.keys(json.paths).some((path) => path.startsWith('/api/')));
});

t.test('a sign-in towards the console has both cookies, a sign-out clears them', async (t) => {
  const { api, submit } = await startWebGateway(t, below);
  const signedIn = await submit('/postern/sign-in', { ...form, return_to: '/postern/console/' });
  const refresh = cookieNamed(signedIn, 'service_refresh_cookie')!;
  t.ok(signedIn.setCookies.some((line) => line.startsWith(refresh) && line.includes('; Path=/postern/api;')));
  const cookie = `${refresh}; ${cookieNamed(signedIn, webCookieName)}`;
  t.equal((await api.refresh(refresh)).status, 200);
  const out = await api.send({
    method: 'POST',
    path: '/postern/sign-out',
    form: {},
    headers: ownForm,
    cookie,
  });
  t.ok(out.setCookies.some((line) => /^service_refresh_cookie=; Max-Age=0; Path=\/postern\/api;/.test(line)));
  t.equal((await api.refresh(refresh)).status, 401);
});

t.test('no sign-in leads to the API, and a provider’s leads back to the pages', async (t) => {
  const { submit } = await startWebGateway(t, below);
  const leadsTo = async (returnTo: string) =>
    (await submit('/postern/sign-in', { ...form, return_to: returnTo })).headers.location;
  t.equal(await leadsTo('/postern/api/logout'), '/postern/');
  t.equal(await leadsTo('/api/logout'), '/api/logout', 'which is the service’s');
  t.equal(await leadsTo('/postern/password'), '/postern/password');
  const gateway = await startProviderGateway(t, undefined, { web: {}, api_path: apiPath });
  const led = await gateway.api.send({ path: '/postern/sign-in/idp', headers: navigation });
  t.equal(led.status, 302);
  const { redirect_uri: redirectUri } = Object.fromEntries(new URL(led.headers.location!).searchParams);
  t.equal(redirectUri, 'https://acme.example.com/postern/callback/idp');
  t.match(led.setCookies, [/^__Host-service_refresh_cookie_login_/]);
  t.equal((await gateway.signIn()).status, 200, 'and front ends sign in there as ever');
});
