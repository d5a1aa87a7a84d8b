import t from 'tap';
import {
  type Begun,
  type Browser,
  keepCookies,
  startProviderGateway,
} from '../support/gateway/provider-gateway.ts';
import { json } from '../support/servers/stub-provider.ts';

const path = '/api/login/idp/start';

t.test("a start returns the provider's URL and binds the sign-in to the browser", async (t) => {
  const { api, stub } = await startProviderGateway(t);
  const response = await api.send({ path });
  t.same(Object.keys(response.json), ['url']);
  const url = new URL(response.json.url);
  t.equal(url.origin + url.pathname, `${stub.origin}/auth`);
  t.match(Object.fromEntries(url.searchParams), {
    client_id: 'postern',
    redirect_uri: 'https://acme.example.com/signed-in',
    response_type: 'id_token',
    scope: 'openid profile email',
    state: /./,
    nonce: /./,
  });
  t.match(response.headers, {
    'cache-control': 'no-store',
    'referrer-policy': 'no-referrer',
    'content-type': 'application/json',
  });
  t.match(response.setCookies, [
    /^service_refresh_cookie_login_[\w-]{6}=[0-9a-z]+\.[\w-]{43}; Max-Age=600; Path=\/api\/login; HttpOnly; Secure; SameSite=Lax$/,
  ]);
  t.equal(response.setCookies.length, 1);
});

t.test('with a code the address has PKCE, and nothing secret but its hash', async (t) => {
  const { begin } = await startProviderGateway(t, { idp: { response: 'code' } });
  const { response } = await begin({});
  t.match(Object.fromEntries(new URL(response.json.url).searchParams), {
    response_type: 'code',
    code_challenge_method: 'S256',
    code_challenge: /^[\w-]{43}$/,
    state: /./,
  });
});

t.test("the cookie has the refresh cookie's attributes, and lives as long as its start", async (t) => {
  const cookie = { name: 'mine', same_site: 'none', domain: 'example.com' };
  const { begin } = await startProviderGateway(
    t,
    { idp: { start_lifetime: '2m' }, other: { start_lifetime: '150s' } },
    { sessions: { cookie } },
  );
  const { response } = await begin({});
  t.match(
    response.setCookies[0],
    /^mine_login_[\w-]{6}=[0-9a-z]+\.[\w-]{43}; Max-Age=120; Path=\/api\/login; HttpOnly; Secure; SameSite=None$/,
  );
  const host = await startProviderGateway(
    t,
    { idp: {} },
    { sessions: { cookie: { name: '__Host-it', path: '/' } } },
  );
  t.match(
    (await host.begin({})).response.setCookies[0],
    /^__Host-it_login_[\w-]{6}=\S+; Max-Age=600; Path=\/;/,
  );
});

t.test('each start has a cookie of its own, and a browser keeps eight', async (t) => {
  const { begin, assertion, exchange, advance } = await startProviderGateway(t, { idp: {}, other: {} });
  const browser: Browser = { cookie: 'a=1; service_refresh_cookie_login_x=2; service_refresh_cookie=3' };
  const begun: Begun[] = [];
  for (let count = 0; count < 10; count += 1) {
    begun.push(await begin(browser, { provider: count % 2 === 0 ? 'idp' : 'other' }));
    advance(1_000);
  }
  const names = begun.map(({ response }) => nameOf(response.setCookies[0]!));
  t.equal(new Set(names).size, 10);
  const cleared = begun.map(({ response }) => response.setCookies.slice(1));
  t.same(cleared.slice(0, 8).flat(), [], 'eight are kept');
  t.match(cleared.slice(8), [
    [/; Max-Age=0; Path=\/api\/login; HttpOnly; Secure; SameSite=Lax$/],
    [/Max-Age=0/],
  ]);
  t.same(cleared.slice(8).flat().map(nameOf), names.slice(0, 2), 'the oldest go');
  t.match(
    browser.cookie,
    /^a=1; service_refresh_cookie_login_x=2; service_refresh_cookie=3; /,
    'nothing else goes',
  );
  const [first, , third] = begun;
  t.equal((await exchange(browser, assertion({ nonce: first!.nonce }))).status, 401);
  t.equal((await exchange(browser, assertion({ nonce: third!.nonce }))).status, 200);
});

t.test(
  "the order of cookies does not give their age, and cookies that aren't ours count as oldest",
  async (t) => {
    const { begin, api } = await startProviderGateway(t);
    const browser: Browser = {};
    for (let count = 0; count < 8; count += 1) await begin(browser);
    const planted = 'service_refresh_cookie_login_AAAAAA=planted; service_refresh_cookie_login_BBBBBB=z.z';
    const cookie = `${browser.cookie!.split('; ').reverse().join('; ')}; ${planted}`;
    const cleared = (await api.send({ path, cookie })).setCookies.slice(1).map(nameOf);
    t.equal(cleared.length, 3);
    t.same(cleared.slice(0, 2), planted.split('; ').map(nameOf));
  },
);

t.test('twenty first starts at once are twenty sign-ins', async (t) => {
  const { api, assertion, exchange, stub } = await startProviderGateway(t);
  const responses = await Promise.all(Array.from({ length: 20 }, () => api.send({ path })));
  t.equal(stub.count('/.well-known/openid-configuration'), 1);
  const browser: Browser = {};
  for (const response of responses) keepCookies(browser, response);
  for (const { json } of responses) {
    const nonce = new URL(json.url).searchParams.get('nonce');
    t.equal((await exchange(browser, assertion({ nonce }))).status, 200);
  }
});

const nameOf = (cookie: string) => cookie.split('=')[0]!;
const pathPattern =
  '^\\/([^/?\\\\\\u0000-\\u001f\\u007f-\\u009f]+(\\/[^/?\\\\\\u0000-\\u001f\\u007f-\\u009f]+)*\\/?)?(\\?[^\\\\\\u0000-\\u001f\\u007f-\\u009f]*)?$';
const mismatch = (input: string) => ({
  type: 'string_pattern_mismatch',
  loc: ['query', 'return_to'],
  msg: `String should match pattern '${pathPattern}'`,
  input,
  ctx: { pattern: pathPattern },
});

t.test('return_to is a path of this origin', async (t) => {
  const { api } = await startProviderGateway(t);
  const good = [
    '',
    '/',
    '/a',
    '/a/',
    '/a/b?c=d&e#f',
    '/ä/ö',
    '/?next=//evil.example',
    '/a?b=c//d?e//f',
    '/?',
    '/a%2f%2fb',
    `/${'x'.repeat(2047)}`,
    '/:80',
    '/a b',
  ];
  for (const value of good) {
    const response = await api.send({ path: `${path}?return_to=${encodeURIComponent(value)}&unknown=1` });
    t.equal(response.status, 200, value);
  }
  const bad = [
    'a',
    '//evil.example',
    '/\\evil.example',
    '\\/evil.example',
    '/a//b',
    '/a//?b',
    '/a#//b',
    '/?a=\\b',
    '/?a=b\nc',
    '?a=b',
    'https://evil.example/',
    '/\t/evil.example',
    '/a\n',
    '/\0',
    '/\u0085',
    ' /a',
    `/${'x'.repeat(2000)}\\`,
  ];
  for (const value of bad) {
    const response = await api.send({ path: `${path}?return_to=${encodeURIComponent(value)}` });
    t.equal(response.status, 422, JSON.stringify(value));
    t.same(response.json.detail, [mismatch(value)]);
    t.equal(response.headers['referrer-policy'], 'no-referrer');
    t.same(response.setCookies, []);
  }
});

t.test('return_to is bounded, is Unicode and comes once', async (t) => {
  const { api } = await startProviderGateway(t);
  const problem = async (query: string) => (await api.send({ path: `${path}?${query}` })).json.detail?.[0];
  t.match(await problem(`return_to=/${'x'.repeat(2048)}`), {
    type: 'string_too_long',
    loc: ['query', 'return_to'],
    ctx: { max_length: 2048 },
  });
  t.match(await problem('return_to=/a&return_to=/b'), { type: 'string_type', input: ['/a', '/b'] });
  t.match(await problem('return_to=/%ff'), { type: 'string_unicode' });
});

t.test('a start serves GET only, ignores credentials, and allows one trailing slash', async (t) => {
  const { api, upstream } = await startProviderGateway(t);
  for (const method of ['HEAD', 'POST', 'PUT', 'DELETE']) {
    const response = await api.send({ method, path });
    t.equal(response.status, 405, method);
    t.equal(response.headers.allow, 'GET, OPTIONS');
    t.equal(response.headers['referrer-policy'], 'no-referrer');
  }
  t.match(await api.send({ method: 'OPTIONS', path }), { status: 204, headers: { allow: 'GET, OPTIONS' } });
  t.equal((await api.send({ path: `${path}/` })).status, 200);
  const stale = { authorization: 'Bearer stale', 'x-api-key': 'stale' };
  t.equal((await api.send({ path, headers: stale })).status, 200);
  for (const other of ['/api/login/other/start', '/api/login/IDP/start', '/api/login/idp', `${path}/x`])
    t.match(await api.send({ path: other }), { status: 404, json: { code: 'not_found' } }, other);
  t.equal(upstream.seen.length, 0);
});

t.test('a provider without discovery is 503 for its own start only', async (t) => {
  const { api, stub } = await startProviderGateway(t);
  stub.responses.set('/.well-known/openid-configuration', json({ issuer: 'https://evil.example' }));
  const response = await api.send({ path });
  t.match(response, { status: 503, json: { code: 'provider_unavailable' }, setCookies: [] });
  t.equal(response.headers['retry-after'], '5');
  t.equal((await api.send({ path: '/.well-known/jwks.json' })).status, 200);
});
