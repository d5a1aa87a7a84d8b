import t, { type Test } from 'tap';
import {
  es256,
  claims as exampleClaims,
  forge,
  header,
  jwkOf,
} from '../support/corpora/forged-assertions.ts';
import { cookieNamed, forgets, navigation, startWebGateway, webCookieName } from '../support/pages/web.ts';
import { json, publish, type StubProvider, startStubProvider } from '../support/servers/stub-provider.ts';

/** Headers of a browser that comes back from a provider. */
const fromProvider = { ...navigation, 'sec-fetch-site': 'cross-site' };

async function start(
  t: Test,
  {
    provider,
    discovery,
    web = {},
    ...config
  }: {
    readonly provider?: object;
    readonly web?: object;
    readonly discovery?: object;
    [key: string]: unknown;
  } = {},
) {
  const stub = await startStubProvider(t);
  publish(stub, [jwkOf(es256)], { end_session_endpoint: `${stub.origin}/end?theme=dark`, ...discovery });
  const gateway = await startWebGateway(t, {
    ...config,
    web,
    identity_providers: { staff: { issuer: stub.origin, client_id: 'postern', ...provider } },
  });
  const { api, open } = gateway;

  /** Leads to the provider; the callback to which it would lead back, and the cookie of this start. */
  const leave = async (returnTo?: string) => {
    const query = returnTo === undefined ? '' : `?return_to=${encodeURIComponent(returnTo)}`;
    const left = await open(`/postern/sign-in/staff${query}`);
    const url = new URL(left.headers.location ?? '');
    const { state = '', nonce = '' } = Object.fromEntries(url.searchParams);
    giveTokens(stub, nonce);
    const cookie = left.setCookies[0]?.split(';', 1)[0] ?? '';
    return { left, url, cookie, nonce, path: `/postern/callback/staff?code=c1&state=${state}` };
  };
  const comeBack = (path: string, cookie?: string) =>
    api.send({ path, headers: fromProvider, ...(cookie !== undefined && { cookie }) });
  return { ...gateway, stub, leave, comeBack };
}

/** What the provider's token endpoint answers from now on. */
function giveTokens(stub: StubProvider, nonce: string, more: object = {}): void {
  const iat = Math.floor(Date.now() / 1000);
  const claims = { ...exampleClaims, ...more, iss: stub.origin, aud: 'postern', iat, exp: iat + 300, nonce };
  stub.responses.set(
    '/token',
    json({ access_token: 'a', token_type: 'Bearer', id_token: forge(header, claims) }),
  );
}

/** Where the API is: where it is by default, and below the pages. */
const apiPaths = ['/api', '/postern/api'];

for (const api_path of apiPaths)
  t.test(
    `people sign in at a provider, and are led to where they wanted to be: API at ${api_path}`,
    async (t) => {
      const { open, leave, comeBack, stub } = await start(t, { api_path });
      t.match(
        (await open('/postern/sign-in?return_to=%2Fapp%2Fx')).text,
        'href="/postern/sign-in/staff?return_to=%2Fapp%2Fx"',
      );
      const { left, url, cookie, path } = await leave('/app/x');
      t.equal(left.status, 302);
      t.equal(`${url.origin}${url.pathname}`, `${stub.origin}/auth`);
      t.match(Object.fromEntries(url.searchParams), {
        response_type: 'code',
        response_mode: 'query',
        redirect_uri: 'https://acme.example.com/postern/callback/staff',
        code_challenge_method: 'S256',
      });
      t.match(
        left.setCookies[0],
        /^__Host-service_refresh_cookie_login_[\w-]{6}=[^;]+; Max-Age=600; Path=\/; HttpOnly; Secure; SameSite=Lax$/,
      );
      const back = await comeBack(path, cookie);
      t.match(back, { status: 303, headers: { location: '/app/x' } });
      t.ok(forgets(back, cookie.split('=', 1)[0]!), 'the start is over');
      const session = cookieNamed(back, webCookieName)!;
      t.equal((await open('/app/x', session)).status, 200);
      const again = await comeBack(path, `${cookie}; ${session}`);
      t.match(again, { status: 303, headers: { location: '/postern/' } }, 'back again, signed in');
      t.match(
        await comeBack(path, cookie),
        { status: 401, text: /did not work or took too long/ },
        'and not',
      );
    },
  );

t.test('who comes back with more than eight other starts loses the oldest', async (t) => {
  const { leave, comeBack, advance } = await start(t);
  const cookies: string[] = [];
  for (let count = 0; count < 10; count++) {
    cookies.push((await leave()).cookie);
    advance(1_000);
  }
  const { cookie, path } = await leave();
  const back = await comeBack(path, [...cookies, cookie].join('; '));
  t.equal(back.status, 303);
  t.same(
    [...cookies, cookie].filter((each) => forgets(back, each.split('=', 1)[0]!)),
    [cookies[0], cookies[1], cookie],
  );
});

t.test('a ninth start clears the oldest of the eight before it', async (t) => {
  const { api, leave, advance } = await start(t);
  const cookies: string[] = [];
  for (let count = 0; count < 8; count++) {
    cookies.push((await leave()).cookie);
    advance(1_000);
  }
  const headers = { ...navigation, cookie: cookies.toReversed().join('; ') };
  const ninth = await api.send({ path: '/postern/sign-in/staff', headers });
  t.equal(ninth.setCookies.length, 2);
  t.ok(forgets(ninth, cookies[0]!.split('=', 1)[0]!));
});

t.test('over https no neighbouring host can plant a start', async (t) => {
  const { comeBack, leave } = await start(t, { sessions: { cookie: { name: '__Secure-c' } } });
  const { cookie, path } = await leave();
  t.match(cookie, /^__Host-c_login_/);
  const planted = cookie.replace('__Host-', '');
  t.match(await comeBack(path, planted), { status: 401, setCookies: [] });
  t.equal((await comeBack(path, cookie)).status, 303);
});

t.test('over plain http a start is bound by a cookie of the callback alone', async (t) => {
  const { leave } = await start(t, { base_url: 'http://acme.example.com' });
  t.match(
    (await leave()).left.setCookies[0],
    /^service_refresh_cookie_login_[\w-]{6}=[^;]+; Max-Age=600; Path=\/postern\/callback; HttpOnly; SameSite=Lax$/,
  );
});

t.test('no service sees the cookie of a start', async (t) => {
  const { open, leave, signIn, upstream } = await start(t);
  const { cookie } = await leave();
  await open('/app', `a=1; ${cookie}; ${await signIn()}; b=2`);
  t.same(upstream.seen.at(-1)!.values('cookie'), ['a=1; b=2']);
});

t.test('HEAD neither begins a sign-in nor redeems one', async (t) => {
  const { api, leave, comeBack } = await start(t);
  const { path, cookie } = await leave();
  for (const asked of ['/postern/sign-in/staff', path]) {
    const headed = await api.send({ method: 'HEAD', path: asked, cookie, headers: fromProvider });
    t.match(headed, { status: 405, setCookies: [], headers: { allow: 'GET, OPTIONS' } }, asked);
  }
  t.equal((await comeBack(path, cookie)).status, 303, 'the code was not touched');
});

t.test('whatever comes back wrong is one text', async (t) => {
  const { comeBack, leave, signIn } = await start(t);
  const { path, cookie } = await leave();
  const rows: readonly [sentence: string, path: string, cookie?: string][] = [
    ['another browser', path],
    ['an error of the provider', '/postern/callback/staff?error=access_denied&state=x', cookie],
    ['a state that is none', '/postern/callback/staff?code=c&state=nonsense', cookie],
    ['nothing', '/postern/callback/staff', cookie],
    ['two codes', `${path}&code=c2`, cookie],
  ];
  const texts = new Set<string>();
  for (const [sentence, target, held] of rows) {
    const response = await comeBack(target, held);
    t.match(response, { status: 401, setCookies: [] }, sentence);
    texts.add(response.text);
  }
  t.equal(texts.size, 1);
  const session = await signIn();
  t.match(await comeBack('/postern/callback/staff?error=x', session), {
    status: 303,
    headers: { location: '/postern/' },
  });
});

t.test('a sign-in that failed can be begun again, towards the page that was wanted', async (t) => {
  const { leave, comeBack } = await start(t);
  const { url, cookie } = await leave('/app/x?y=1');
  const path = `/postern/callback/staff?error=access_denied&state=${url.searchParams.get('state')}`;
  const failed = await comeBack(path, cookie);
  t.match(failed, { status: 401, text: /did not work or took too long/ });
  t.match(failed.text, 'name="return_to" value="/app/x?y=1"');
  t.match(failed.text, 'href="/postern/sign-in/staff?return_to=%2Fapp%2Fx%3Fy%3D1"');
  const elsewhere = await comeBack(path);
  t.match(elsewhere, { status: 401 });
  t.notMatch(elsewhere.text, '/app/x', 'another browser doesn’t learn what that was');
});

t.test('a start of the pages is none of the API, and the reverse', async (t) => {
  const { api, leave, comeBack, stub } = await start(t, {
    provider: { response: 'code', redirect_uri: 'https://acme.example.com/in' },
  });
  const { path, cookie } = await leave();
  const exchanged = await api.send({
    path: path.replace('/postern/callback/staff', '/api/login/staff/exchange'),
    cookie,
  });
  t.match(exchanged, { status: 401, json: { code: 'invalid_assertion' } });
  const begun = await api.send({ path: '/api/login/staff/start' });
  const { state, nonce } = Object.fromEntries(new URL(begun.json.url).searchParams);
  giveTokens(stub, nonce!);
  const held = begun.setCookies[0]!.split(';', 1)[0]!;
  t.equal((await comeBack(`/postern/callback/staff?code=c&state=${state}`, held)).status, 401);
});

t.test('without a page of the front end the API has no sign-in there', async (t) => {
  const { api } = await start(t);
  t.equal((await api.send({ path: '/api/login/staff/start' })).status, 404);
  const form = { logout_token: 'nonsense' };
  const path = '/api/login/staff/back-channel-logout';
  t.equal((await api.send({ method: 'POST', path, form })).status, 400, 'but sign-outs are told');
});

t.test('with one provider and no passwords the page leads there at once', async (t) => {
  const { open, signIn } = await start(t, { web: { password: false } });
  t.match(await open('/postern/sign-in?return_to=%2Fapp'), {
    status: 303,
    headers: { location: '/postern/sign-in/staff?return_to=%2Fapp' },
  });
  t.equal((await open('/postern/signed-out')).status, 200, 'but not after a sign-out');
  await t.rejects(signIn());
});

t.test('a provider without codes has no link', async (t) => {
  const { open, logLines } = await start(t, { discovery: { response_types_supported: ['id_token'] } });
  for (let count = 0; count < 2; count++) t.notMatch((await open('/postern/sign-in')).text, 'sign-in/staff');
  t.equal(logLines().filter(({ msg }) => /provider left off the sign-in page/.test(String(msg))).length, 1);
});

t.test('a provider that is away', async (t) => {
  const { open, stub } = await start(t);
  stub.responses.set('/.well-known/openid-configuration', (_request, response) => response.destroy());
  const left = await open('/postern/sign-in/staff');
  t.match(left, { status: 503, text: /can(?:'|&#39;)t be reached/, headers: { 'retry-after': /\d/ } });
  t.equal((await open('/postern/sign-in')).status, 200);
});

t.test('no browser goes there before its user decided to', async (t) => {
  const { api } = await start(t);
  for (const path of ['/postern/sign-in/staff', '/postern/callback/staff?code=c&state=s'])
    t.equal((await api.send({ path, headers: { ...navigation, 'sec-purpose': 'prefetch' } })).status, 403);
});

t.test('nobody is signed in behind their back, by a script or in a frame', async (t) => {
  const { api, leave, comeBack } = await start(t, { web: { console: {} } });
  const { path, cookie } = await leave('/postern/console/');
  for (const unseen of [
    { 'sec-fetch-mode': 'no-cors', 'sec-fetch-dest': 'empty' },
    { 'sec-fetch-mode': 'navigate', 'sec-fetch-dest': 'iframe' },
  ])
    for (const asked of ['/postern/sign-in/staff', path]) {
      const headers = { 'sec-fetch-site': 'same-origin', ...unseen };
      t.match(await api.send({ path: asked, cookie, headers }), { status: 403, setCookies: [] }, asked);
    }
  t.equal((await comeBack(path, cookie)).status, 303, 'the code was not touched');
});

for (const api_path of apiPaths)
  t.test(`signing out goes on at the provider: API at ${api_path}`, async (t) => {
    const { submit, leave, comeBack, open, stub, baseUrl } = {
      ...(await start(t, { api_path, provider: { end_session: true } })),
      baseUrl: 'https://acme.example.com',
    };
    const { path, cookie } = await leave();
    const session = cookieNamed(await comeBack(path, cookie), webCookieName)!;
    const signedOut = await submit('/postern/sign-out', {}, session);
    t.equal(signedOut.status, 200);
    t.ok(forgets(signedOut, webCookieName));
    const [, address = ''] = /^0; url=(.*)$/.exec(signedOut.headers.refresh ?? '') ?? [];
    const url = new URL(address);
    t.equal(`${url.origin}${url.pathname}`, `${stub.origin}/end`);
    const { id_token_hint: hint, state, ...others } = Object.fromEntries(url.searchParams);
    t.same(others, {
      theme: 'dark',
      client_id: 'postern',
      post_logout_redirect_uri: `${baseUrl}/postern/signed-out`,
    });
    t.match(hint, /^[\w-]+\.[\w-]+\.[\w-]+$/);
    t.match(state, /^[\w-]{22}$/);
    t.match(signedOut.text, /Sign out at <bdi>staff<\/bdi>/);
    t.ok(signedOut.text.includes(`href="${address.replaceAll('&', '&amp;')}"`), 'the link is the same');
    t.match(signedOut.headers, { 'cache-control': 'no-store', 'referrer-policy': 'no-referrer' });
    t.match(signedOut.headers, { 'content-security-policy': /form-action 'self'/ });
    t.equal(signedOut.headers.location, undefined);
    t.equal((await open('/app', session)).status, 302, 'here it has ended');
  });

t.test('an ID token that is too long to keep costs the hint, not the sign-out at the provider', async (t) => {
  const { submit, leave, comeBack, stub } = await start(t, { provider: { end_session: true } });
  const { path, cookie, nonce } = await leave();
  giveTokens(stub, nonce, { groups: Array.from({ length: 1_000 }, (_, index) => `group-${index}`) });
  const session = cookieNamed(await comeBack(path, cookie), webCookieName)!;
  const signedOut = await submit('/postern/sign-out', {}, session);
  t.equal(signedOut.status, 200);
  const url = new URL(/^0; url=(.*)$/.exec(signedOut.headers.refresh ?? '')?.[1] ?? 'none:');
  t.equal(`${url.origin}${url.pathname}`, `${stub.origin}/end`);
  const { state, ...others } = Object.fromEntries(url.searchParams);
  t.same(others, {
    theme: 'dark',
    client_id: 'postern',
    post_logout_redirect_uri: 'https://acme.example.com/postern/signed-out',
  });
  t.match(state, /^[\w-]{22}$/);
});

t.test('a provider that says of no place to sign out is told to people', async (t) => {
  const { submit, leave, comeBack } = await start(t, {
    provider: { end_session: true },
    discovery: { end_session_endpoint: undefined },
  });
  const { path, cookie } = await leave();
  const session = cookieNamed(await comeBack(path, cookie), webCookieName)!;
  t.match(await submit('/postern/sign-out', {}, session), {
    status: 303,
    headers: { location: '/postern/signed-out?provider=staff' },
  });
});

t.test('signing out clears the starts of the browser, where it sends them', async (t) => {
  const { submit, leave } = await start(t);
  const [one, other] = [(await leave()).cookie, (await leave()).cookie];
  const foreign = '__Host-service_refresh_cookie_login_toolong=x; my_login_abcdef=y';
  const signedOut = await submit('/postern/sign-out', {}, `${one}; ${foreign}; ${other}`);
  for (const cookie of [one, other])
    t.ok(
      signedOut.setCookies.includes(
        `${cookie.split('=', 1)[0]}=; Max-Age=0; Path=/; HttpOnly; Secure; SameSite=Lax`,
      ),
    );
  t.equal(signedOut.setCookies.length, 4, 'these two and those of the session');
});

t.test('without end_session people are told where they may still be signed in', async (t) => {
  const { submit, leave, comeBack, open } = await start(t);
  const { path, cookie } = await leave();
  const session = cookieNamed(await comeBack(path, cookie), webCookieName)!;
  const signedOut = await submit('/postern/sign-out', {}, session);
  t.match(signedOut, { status: 303, headers: { location: '/postern/signed-out?provider=staff' } });
  t.match((await open('/postern/signed-out?provider=staff')).text, /still be signed in at <bdi>staff<\/bdi>/);
  t.notMatch((await open('/postern/signed-out?provider=evil')).text, 'evil');
});

t.test('a provider is called by its title', async (t) => {
  const { open, signIn } = await start(t, { provider: { title: 'Nordwind account' }, web: { console: {} } });
  const { text } = await open('/postern/sign-in');
  t.match(text, /href="\/postern\/sign-in\/staff[^"]*"[^>]*>\s*Sign in with <bdi>Nordwind account<\/bdi>/);
  t.notMatch(text, /with (<bdi>)?staff/);
  const console = await open('/postern/console/', await signIn());
  t.match(console.text, 'data-providers="{&quot;staff&quot;:&quot;Nordwind account&quot;}"');
});
