import t from 'tap';
import { administrator, bootstrapToken, startTestGateway } from '../support/gateway/gateway.ts';
import { navigation, ownForm, startWebGateway, webCookieName } from '../support/pages/web.ts';

const policy =
  "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; connect-src 'self'; form-action 'self'; frame-ancestors 'none'; base-uri 'none'";

t.test('every response of the area has its headers', async (t) => {
  const { api, open } = await startWebGateway(t);
  const paths = ['/postern', '/postern/', '/postern/sign-in', '/postern/signed-out', '/postern/nowhere'];
  for (const path of [...paths, '/postern/openapi.json', '/postern/activate', '/postern/password'])
    for (const response of [await open(path), await api.send({ path })]) {
      t.match(response.headers, {
        'content-security-policy': policy,
        'cross-origin-opener-policy': 'noopener-allow-popups',
        'cross-origin-resource-policy': 'same-origin',
        'x-content-type-options': 'nosniff',
        'referrer-policy': 'same-origin',
        'cache-control': 'no-store',
      });
    }
});

t.test('paths of the area', async (t) => {
  const { api, open, signIn } = await startWebGateway(t);
  t.match(await open('/postern'), { status: 308, headers: { location: '/postern/' } });
  t.match(await open('/postern/'), { status: 302, headers: { location: '/postern/sign-in' } });
  t.match(await open('/'), { status: 302, headers: { location: '/postern/' } });
  t.match(await api.send({ path: '/' }), { status: 404, json: { code: 'not_found' } });
  t.match(await open('/postern/nowhere'), { status: 404, text: /There is nothing here/ });
  t.match(await api.send({ path: '/postern/nowhere' }), { status: 404, json: { code: 'not_found' } });
  t.equal((await open('/postern/sign-in/')).status, 200, 'with a slash, too');
  t.match(await open('/postern/openapi.json'), { status: 200, json: { openapi: /^3\.1/ } });
  t.equal((await api.send({ method: 'HEAD', path: '/postern/sign-in' })).text, '');
  const cookie = await signIn();
  t.match(await open('/postern/', cookie), { status: 200, text: /Sign out/ });
  t.equal((await open('/POSTERN/sign-in')).status, 404, 'never an upstream’s');
});

t.test('files that pages load may be kept for good', async (t) => {
  const { api, open } = await startWebGateway(t);
  const { text } = await open('/postern/sign-in');
  const addresses = [...text.matchAll(/(?:href|src)="(\/postern\/assets\/[^"]+)"/g)].map(([, path]) => path!);
  t.ok(addresses.length >= 3, addresses.join(' '));
  for (const path of addresses) {
    const { status, headers } = await api.send({ path });
    t.equal(status, 200, path);
    t.equal(headers['cache-control'], 'public, max-age=31536000, immutable');
    t.equal(headers['content-security-policy'], policy);
  }
  t.equal((await api.send({ path: '/postern/assets/style.0000000000000000.css' })).status, 404);
  t.equal((await api.send({ path: '/postern/assets/' })).status, 404);
});

t.test('the first administrator is made in the browser, and signed in', async (t) => {
  const { api } = await startTestGateway(t, { config: { web: {} } });
  const open = () => api.send({ path: '/postern/activate', headers: navigation });
  const submit = (form: Record<string, string>) =>
    api.send({ method: 'POST', path: '/postern/activate', form, headers: ownForm });
  t.match(await open(), { status: 200, text: /first administrator/ });
  const signInPage = () => api.send({ path: '/postern/sign-in', headers: navigation });
  t.match((await signInPage()).text, /Activation is open: <a href="\/postern\/activate">/);
  const { username, password } = administrator;
  t.match(await submit({ token: 'wrong', username, password }), {
    status: 401,
    text: /not the activation token/,
  });
  const both = await submit({ token: bootstrapToken, username: '', password: 'short' });
  t.match(both, { status: 422, text: /Enter your user name/ });
  t.match(both.text, /at least 12 characters/);
  const made = await submit({ token: bootstrapToken, username, password });
  t.match(made, { status: 303, headers: { location: '/postern/' } });
  t.match(made.setCookies[0], new RegExp(`^${webCookieName}=`));
  t.match(await open(), { status: 409, text: /Sign in/ });
  t.notMatch((await signInPage()).text, 'administrator yet');
  t.equal((await submit({ token: bootstrapToken, username: 'eve', password })).status, 409);
});

t.test('an invitation sets a password', async (t) => {
  const { api, open, submit } = await startWebGateway(t);
  const { accessToken: bearer } = await api.signIn(administrator.username, administrator.password);
  const path = '/api/admin/users/';
  const { json: user } = await api.send({ method: 'POST', path, bearer, json: { username: 'grace' } });
  const invited = await api.send({ method: 'POST', path: `${path}${user.id}/invitation`, bearer });
  const { token } = invited.json;
  t.match(await open('/postern/invitation'), { status: 200, text: /Choose your password/ });
  // As the page's script asks, any number of times.
  for (let time = 0; time < 20; time++)
    t.match(await submit('/postern/invitation', { token }), { status: 204, text: '' }, 'it is good');
  t.equal((await submit('/postern/invitation', { token: 'nonsense' })).status, 401);
  t.equal((await submit('/postern/invitation', { token: '' })).status, 422);
  const weak = await submit('/postern/invitation', { token, password: 'grace' });
  t.match(weak, { status: 422, text: /at least 12 characters/ });
  const password = 'a compiler of her own';
  t.match(await submit('/postern/invitation', { token: 'nonsense', password }), { status: 401 });
  const set = await submit('/postern/invitation', { token, password });
  t.match(set, { status: 200, text: /sign in/i });
  t.match(set.text, 'Your user name is <strong><bdi class="account-name">grace</bdi></strong>.');
  t.equal((await submit('/postern/sign-in', { username: 'grace', password })).status, 303);
  const again = await submit('/postern/invitation', { token, password });
  t.match(again, { status: 401, text: 'This invitation has been used or has run out.' }, 'once');
  t.equal((await submit('/postern/invitation', { token })).status, 401);
});

t.test('people change their own password', async (t) => {
  const { open, submit, signIn } = await startWebGateway(t);
  t.match(await open('/postern/password'), {
    status: 302,
    headers: { location: '/postern/sign-in?return_to=%2Fpostern%2Fpassword' },
  });
  const [cookie, other] = [await signIn(), await signIn()];
  t.match(await open('/postern/password', cookie), { status: 200, text: /ada/ });
  const { password } = administrator;
  const next = 'another long enough password';
  const change = (current: string, wanted: string, as?: string) =>
    submit('/postern/password', { current_password: current, new_password: wanted }, as);
  t.match(await change('not this one, I fear', next, cookie), { status: 403, text: /current password/i });
  t.match(await change(password, 'short', cookie), { status: 422, text: /at least 12 characters/ });
  t.equal((await change(password, next)).status, 401, 'nobody is signed in');
  t.match(await change(password, next, cookie), { status: 200, text: /changed/ });
  t.equal((await open('/app', cookie)).status, 200, 'this session goes on');
  t.equal((await open('/app', other)).status, 302, 'the others have ended');
});

t.test('pages of endpoints that are not Postern’s are left out', async (t) => {
  const { open } = await startWebGateway(t, { endpoints: { self_password: 'off', bootstrap: 'own' } });
  t.equal((await open('/postern/password')).status, 404);
});

t.test('another path, title and logo', async (t) => {
  const logo = t.testdir({ 'logo.svg': '<svg xmlns="http://www.w3.org/2000/svg"/>' });
  const { api, open } = await startWebGateway(t, {
    web: { path: '/a/b', title: 'Orders & more', logo: `${logo}/logo.svg` },
  });
  const { text } = await open('/a/b/sign-in');
  t.match(text, /Orders &amp; more/);
  const [, address] = /src="(\/a\/b\/assets\/logo[^"]+)"/.exec(text) ?? [];
  t.match(await api.send({ path: address! }), { status: 200, headers: { 'content-type': 'image/svg+xml' } });
  t.equal((await open('/postern/sign-in')).status, 404);
});
