import t from 'tap';
import { administrator } from '../support/gateway/gateway.ts';
import {
  cookieNamed,
  forgets,
  navigation,
  ownForm,
  startWebGateway,
  webCookieName,
} from '../support/pages/web.ts';

const refreshCookieName = 'service_refresh_cookie';

t.test('a sign-in sets the web cookie alone and leads back', async (t) => {
  const { open, submit, api } = await startWebGateway(t);
  const page = await open('/postern/sign-in?return_to=%2Fapp%2Fx%3Fy%3D1');
  t.match(page, { status: 200, headers: { 'cache-control': 'no-store' } });
  t.match(page.text, /<input type="hidden" name="return_to" value="\/app\/x\?y=1"/);
  const signedIn = await submit('/postern/sign-in', { ...administrator, return_to: '/app/x?y=1' });
  t.match(signedIn, { status: 303, headers: { location: '/app/x?y=1' } });
  t.equal(signedIn.setCookies.length, 1);
  t.match(
    signedIn.setCookies[0],
    /^__Host-service_refresh_cookie_web=[^;]+; Max-Age=7776000; Path=\/; HttpOnly; Secure; SameSite=Lax$/,
  );
  const cookie = cookieNamed(signedIn, webCookieName)!;
  const again = await open('/postern/sign-in?return_to=%2Fapp%2Fy', cookie);
  t.match(again, { status: 303, headers: { location: '/app/y' } }, 'who is signed in is led on at once');
  t.match((await open('/postern/', cookie)).text, /ada/);
  t.equal((await api.refresh(cookie)).status, 401, 'it is no refresh cookie');
});

t.test('where a sign-in leads', async (t) => {
  const { submit } = await startWebGateway(t, { web: { home: '/app/start' } });
  const rows: readonly [returnTo: string | null, location: string][] = [
    [null, '/app/start'],
    ['/app/x?next=//a', '/app/x?next=//a'],
    ['/', '/'],
    ['/postern/password', '/postern/password'],
    ['//evil.example', '/app/start'],
    ['https://evil.example/', '/app/start'],
    ['/\\evil.example', '/app/start'],
    ['/a//b', '/app/start'],
    ['/a\tb', '/app/start'],
    ['app', '/app/start'],
    ['/api/logout', '/app/start'],
    ['/api/login/idp/start', '/app/start'],
    ['/API/Admin/users', '/app/start'],
    ['/app/../api/logout', '/app/start'],
    ['/app/%2e%2e/api/logout', '/app/start'],
    ['/app/./x/../y', '/app/y'],
    ['/app/caf\u00e9 \u2603#top', '/app/caf%C3%A9%20%E2%98%83#top'],
    ['/.//evil.example', '/app/start'],
    ['/api/store', '/api/store'],
    [`/${'x'.repeat(3_000)}`, '/app/start'],
  ];
  for (const [returnTo, location] of rows) {
    const form = { ...administrator, ...(returnTo === null ? {} : { return_to: returnTo }) };
    t.match(await submit('/postern/sign-in', form), { status: 303, headers: { location } }, `${returnTo}`);
  }
});

t.test('whatever is wrong, the page says the same', async (t) => {
  const { submit, logLines } = await startWebGateway(t);
  const wrong = await submit('/postern/sign-in', { username: 'ada', password: 'wrong', return_to: '/app' });
  t.match(wrong, { status: 401, setCookies: [], headers: { 'content-type': /^text\/html/ } });
  t.match(wrong.headers, { 'www-authenticate': /^Bearer realm=/ });
  t.match(wrong.text, /value="ada"/);
  t.match(wrong.text, /name="return_to" value="\/app"/);
  t.notMatch(wrong.text, 'wrong"');
  const unknown = await submit('/postern/sign-in', {
    username: 'nobody',
    password: 'wrong',
    return_to: '/app',
  });
  t.equal(unknown.text.replaceAll('nobody', 'ada'), wrong.text);
  const missing = await submit('/postern/sign-in', { username: 'ada' });
  t.match(missing, { status: 422, text: /Enter your password/ });
  t.equal(logLines().filter(({ event }) => event === 'login_failed').length, 2);
});

t.test('too many attempts say when to try again', async (t) => {
  const { submit } = await startWebGateway(t, {
    login_throttle: { per_account_and_address: 1, per_account: 1, per_address: 1 },
  });
  await submit('/postern/sign-in', { username: 'ada', password: 'wrong' });
  const refused = await submit('/postern/sign-in', { ...administrator });
  t.match(refused, { status: 429, setCookies: [], text: /too many attempts/i });
  t.match(refused.headers, { 'retry-after': /^\d+$/ });
});

t.test('a sign-in ends the session that this browser had', async (t) => {
  const { open, submit, signIn } = await startWebGateway(t);
  const first = await signIn();
  const [other] = [await signIn()];
  const second = cookieNamed(await submit('/postern/sign-in', { ...administrator }, first), webCookieName)!;
  t.equal((await open('/app', first)).status, 302);
  t.equal((await open('/app', second)).status, 200);
  t.equal((await open('/app', other)).status, 200, 'the one of another browser goes on');
});

t.test('signing out ends the sessions of this browser, and it forgets them', async (t) => {
  const { api, open, submit, signIn } = await startWebGateway(t);
  const cookie = await signIn();
  const front = await api.signIn(administrator.username, administrator.password);
  const signedOut = await submit('/postern/sign-out', {}, `${cookie}; ${front.cookie}`);
  t.match(signedOut, { status: 303, headers: { location: '/postern/signed-out' } });
  t.ok(forgets(signedOut, webCookieName));
  t.ok(forgets(signedOut, refreshCookieName));
  t.equal((await open('/app', cookie)).status, 302);
  t.equal((await api.refresh(front.cookie)).status, 401);
  t.match(await open('/postern/signed-out'), { status: 200, text: /signed out/ });
  t.equal((await submit('/postern/sign-out', {})).status, 303, 'once more does no harm');
});

t.test('the address of the sign-out has a page with one button, which alone signs out', async (t) => {
  const { open, submit, signIn } = await startWebGateway(t);
  const cookie = await signIn();
  const page = await open('/postern/sign-out', cookie);
  t.match(page, { status: 200, setCookies: [], headers: { 'cache-control': 'no-store' } });
  t.equal(page.text.match(/<button/g)?.length, 1);
  t.match(page.text, '<form method="post" action="/postern/sign-out">');
  t.equal((await open('/app', cookie)).status, 200, 'nothing has ended');
  t.equal((await submit('/postern/sign-out', {}, cookie)).status, 303);
  t.match(await open('/postern/sign-out'), { status: 200 }, 'nor does anyone need to be signed in');
});

t.test('the calls of the API that end the current session forget both cookies', async (t) => {
  const { api } = await startWebGateway(t);
  const signIn = () => api.signIn(administrator.username, administrator.password);
  const { accessToken: bearer } = await signIn();
  const logout = await api.send({ path: '/api/logout', bearer });
  const { accessToken } = await signIn();
  const list = await api.send({ path: '/api/self/sessions/', bearer: accessToken });
  const current = list.json.items.find((session: { current: boolean }) => session.current);
  const path = `/api/self/sessions/${current.id}`;
  const deleted = await api.send({ method: 'DELETE', path, bearer: accessToken });
  for (const response of [logout, deleted])
    for (const name of [webCookieName, refreshCookieName]) t.ok(forgets(response, name), name);
});

t.test('no page of another site can sign anyone in or out', async (t) => {
  const { api, open, signIn } = await startWebGateway(t, { cors: { origins: ['https://partner.example'] } });
  const cookie = await signIn();
  const foreign: Record<string, Record<string, string>> = {
    'another site': { ...ownForm, 'sec-fetch-site': 'cross-site', origin: 'https://evil.example' },
    'a neighbour': { ...ownForm, 'sec-fetch-site': 'same-site', origin: 'https://wiki.example.com' },
    'a partner whose scripts may call the API': { origin: 'https://partner.example' },
    'a page that hides where it is': { 'sec-fetch-site': 'cross-site' },
    'a sandbox': { origin: 'null' },
  };
  for (const [title, headers] of Object.entries(foreign)) {
    const form = { ...administrator };
    const signIn = await api.send({ method: 'POST', path: '/postern/sign-in', form, headers });
    t.match(signIn, { status: 403, setCookies: [] }, title);
    const signOut = await api.send({ method: 'POST', path: '/postern/sign-out', form: {}, headers, cookie });
    t.match(signOut, { status: 403, setCookies: [] }, title);
  }
  const prefetched = await api.send({
    method: 'POST',
    path: '/postern/sign-out',
    headers: { ...ownForm, 'sec-purpose': 'prefetch;prerender' },
    cookie,
  });
  t.match(prefetched, { status: 403, text: /prefetch/ });
  t.equal((await open('/app', cookie)).status, 200);
});

t.test('without the form nobody signs in with a password here', async (t) => {
  const { open, submit } = await startWebGateway(t, { web: { password: false } });
  t.notMatch((await open('/postern/sign-in')).text, /type="password"/);
  t.match(await submit('/postern/sign-in', { ...administrator }), { status: 405 });
});

t.test('over plain http the cookie has no prefix', async (t) => {
  const { api } = await startWebGateway(t, {
    base_url: 'http://acme.example.com',
    sessions: { cookie: { name: 'c' } },
  });
  const headers = { ...navigation, 'sec-fetch-site': 'same-origin' };
  const form = { ...administrator };
  const { setCookies } = await api.send({ method: 'POST', path: '/postern/sign-in', form, headers });
  t.match(setCookies[0], /^c_web=[^;]+; Max-Age=\d+; Path=\/; HttpOnly; SameSite=Lax$/);
});

t.test('the start page leads to the application, if people begin there', async (t) => {
  const web = { title: 'Orders', home: '/app/start?x=1', console: {} };
  const { open, signIn } = await startWebGateway(t, { web });
  const { text } = await open('/postern/', await signIn());
  t.match(
    text,
    '<div class="actions"><a href="/app/start?x=1" class="button button-primary">Go to Orders</a>',
  );
  t.match(text, 'class="button button-secondary">Open the console</a>');
  for (const home of ['/postern/', '/postern/console/users']) {
    const gateway = await startWebGateway(t, { web: { ...web, home } });
    t.notMatch((await gateway.open('/postern/', await gateway.signIn())).text, 'Go to Orders', home);
  }
});

t.test('who has forgotten the password is told whom to ask, with a link where there is one', async (t) => {
  const links = [
    [undefined, 'Ask your administrator for a new invitation.'],
    ['help+sso@acme.example.com', '<a href="mailto:help%2Bsso@acme.example.com">your administrator</a>'],
    ['https://acme.example.com/help?topic=1', '<a href="https://acme.example.com/help?topic=1">'],
  ] as const;
  for (const [contact, expected] of links) {
    const { open } = await startWebGateway(t, { web: contact === undefined ? {} : { contact } });
    const { text } = await open('/postern/sign-in');
    t.match(text, 'Forgotten your password?');
    t.match(text, expected);
  }
  const { open } = await startWebGateway(t, { web: { password: false, contact: 'help@acme.example.com' } });
  t.notMatch((await open('/postern/sign-in')).text, 'Forgotten', 'where there is no password');
});
