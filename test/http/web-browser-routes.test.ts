import t from 'tap';
import { connectRaw } from '../support/clients/raw-client.ts';
import { eventually } from '../support/eventually.ts';
import { forgets, navigation, ownForm, startWebGateway, webCookieName } from '../support/pages/web.ts';

const script = { 'sec-fetch-site': 'same-origin', 'sec-fetch-mode': 'cors', 'sec-fetch-dest': 'empty' };

t.test(
  'nobody is signed in: people are led to the sign-in page, programs are told where it is',
  async (t) => {
    const { api, open, upstream } = await startWebGateway(t);
    const led = await open('/app/orders?page=2&x=%2F');
    t.match(led, { status: 302, text: '', headers: { 'cache-control': 'no-store' } });
    t.equal(led.headers.location, '/postern/sign-in?return_to=%2Fapp%2Forders%3Fpage%3D2%26x%3D%252F');
    t.equal((await api.send({ method: 'HEAD', path: '/app', headers: navigation })).status, 302);
    const long = await open(`/app/orders?q=${'x'.repeat(3_000)}`);
    t.equal(long.headers.location, '/postern/sign-in?return_to=%2Fapp%2Forders', 'the path alone');
    const odd = await open('/app?q=\\evil');
    t.equal(odd.headers.location, '/postern/sign-in?return_to=%2Fapp');
    const told = await api.send({ path: '/app', headers: script });
    t.match(told, { status: 401, json: { code: 'not_authenticated', sign_in: '/postern/sign-in' } });
    t.match(told.headers, { 'www-authenticate': /^Bearer realm=/ });
    const posted = await api.send({ method: 'POST', path: '/app', headers: navigation });
    t.match(posted, { status: 401, headers: { 'content-type': /^text\/html/ }, text: /Sign in/ });
    t.equal((await open('/api/store')).status, 401, 'no browser route');
    t.equal((await open('/api/store')).json?.sign_in, undefined);
    t.equal(upstream.seen.length, 0);
  },
);

t.test('who sent a form without a session is led back to its page', async (t) => {
  const { api } = await startWebGateway(t);
  const origin = 'https://acme.example.com';
  const rows: readonly [sentence: string, referer: string | string[] | undefined, address: string][] = [
    ['by the address of the page', `${origin}/app/new?kind=a&b`, '?return_to=%2Fapp%2Fnew%3Fkind%3Da%26b'],
    ['by the host alone', `${origin}/`, '?return_to=%2F'],
    ['not without one', undefined, ''],
    ['not to another site', 'https://evil.example/app/new', ''],
    ['nor to one that looks like this', `${origin}.evil.example/app/new`, ''],
    ['nor over another scheme', 'http://acme.example.com/app/new', ''],
    ['nor to what can’t be led to', `${origin}//evil.example`, ''],
    ['nor to nonsense', 'nonsense', ''],
    ['nor by two', [`${origin}/app`, `${origin}/app`], ''],
  ];
  for (const [sentence, referer, address] of rows) {
    const headers = { ...ownForm, origin, ...(referer !== undefined && { referer }) };
    const { status, text } = await api.send({ method: 'POST', path: '/app', form: {}, headers });
    t.equal(status, 401);
    t.match(text, /nothing was done with what you sent/);
    t.ok(text.includes(`href="/postern/sign-in${address}"`), sentence);
  }
});

t.test('the web cookie is a session, with all that its user holds', async (t) => {
  const { api, open, signIn, upstream } = await startWebGateway(t);
  const cookie = await signIn();
  t.equal((await open('/app/1', `theme=dark; ${cookie}; lang=en`)).status, 200);
  t.equal((await open('/wiki', cookie)).status, 200, 'a scope is needed here');
  const [first, second] = upstream.seen;
  t.same(first?.values('x-auth-method'), ['session']);
  t.same(first?.values('x-auth-username'), ['ada']);
  t.match(first?.values('x-auth-scopes')[0], /store:read store:write/);
  t.same(first?.values('cookie'), ['theme=dark; lang=en'], 'it goes to no upstream');
  t.equal(first?.values('authorization').length, 0);
  t.equal(second?.values('cookie').length, 0);
  t.equal((await api.send({ path: '/api/store', cookie })).status, 401, 'elsewhere it counts for nothing');
  t.equal((await api.send({ path: '/api/self/sessions', cookie })).status, 401);
});

t.test('a response to what the cookie admitted is for this browser alone', async (t) => {
  const gateway = await startWebGateway(t);
  const cookie = await gateway.signIn();
  gateway.upstream.response = (_request, response) =>
    response
      .writeHead(200, {
        'cache-control': 'public, s-maxage=600, max-age=60',
        vary: 'Accept',
        'set-cookie': [`${webCookieName}=planted`, 'service_refresh_cookie=planted', 'theme=dark'],
        'service-worker-allowed': '/',
      })
      .end('page');
  const page = await gateway.open('/app', cookie);
  t.match(page.headers, { 'cache-control': 'private, max-age=60', vary: 'Accept, Cookie' });
  t.equal(page.headers['service-worker-allowed'], undefined);
  t.same(page.setCookies, ['theme=dark'], 'no upstream sets our cookies');
  const anyone = await gateway.open('/site');
  t.match(anyone.headers, { 'cache-control': 'public, s-maxage=600, max-age=60', vary: 'Accept' });
});

t.test('a cookie that is wrong or has ended counts as absent, and is cleared', async (t) => {
  const { api, open, signIn, upstream } = await startWebGateway(t);
  const cookie = await signIn();
  const wrong = `${webCookieName}=${'x'.repeat(40)}`;
  const led = await open('/app', wrong);
  t.equal(led.status, 302);
  t.ok(forgets(led, webCookieName));
  const anyone = await open('/site', wrong);
  t.equal(anyone.status, 200, 'on a public route');
  t.ok(forgets(anyone, webCookieName));
  t.same(upstream.seen[0]?.values('x-auth-subject'), []);
  const signedIn = await api.signIn('ada', 'correct horse battery staple');
  const other = await api.send({
    method: 'DELETE',
    path: '/api/self/sessions/?others=true',
    bearer: signedIn.accessToken,
  });
  t.equal(other.status, 204);
  const ended = await open('/app', cookie);
  t.equal(ended.status, 302);
  t.ok(forgets(ended, webCookieName));
  const two = await open('/app', `${await signIn()}; ${await signIn()}`);
  t.equal(two.status, 302, 'of two sessions, either may have been planted');
});

t.test('a credential of the request itself counts, whatever the cookie says', async (t) => {
  const { api, signIn } = await startWebGateway(t);
  const cookie = await signIn();
  const get = (headers: Record<string, string>) => api.send({ path: '/app', headers, cookie });
  t.match(await get({ authorization: 'Bearer nonsense' }), { status: 401, json: { code: 'invalid_token' } });
  t.match(await get({ 'x-api-key': 'nonsense' }), { status: 401, json: { code: 'invalid_api_key' } });
  t.match(await get({ authorization: 'Basic YTpi' }), { status: 401 });
});

t.test('the web cookie admits links and CORS partners of other sites, and no more', async (t) => {
  const { api, signIn, upstream } = await startWebGateway(t, {
    cors: { origins: ['https://partner.example'] },
  });
  const cookie = await signIn();
  const own = 'https://acme.example.com';
  const rows: readonly [sentence: string, method: string, headers: Record<string, string>, status: number][] =
    [
      ['our own script reads', 'GET', script, 200],
      ['our own script writes', 'POST', { ...script, origin: own }, 200],
      ['a program without a browser writes', 'POST', {}, 200],
      ['another site links here', 'GET', { ...navigation, 'sec-fetch-site': 'cross-site' }, 200],
      ['another site embeds it', 'GET', { ...script, 'sec-fetch-site': 'cross-site' }, 401],
      ['a neighbour embeds it', 'GET', { ...script, 'sec-fetch-site': 'same-site' }, 401],
      [
        'another site frames it',
        'GET',
        { ...navigation, 'sec-fetch-site': 'cross-site', 'sec-fetch-dest': 'iframe' },
        401,
      ],
      ['an old browser reads for another origin', 'GET', { origin: 'https://evil.example' }, 401],
      ['and asks for HTML', 'GET', { origin: 'https://evil.example', accept: 'text/html' }, 302],
      ['an old browser follows a link', 'GET', { accept: 'text/html' }, 200],
      [
        'a partner reads',
        'GET',
        { ...script, 'sec-fetch-site': 'cross-site', origin: 'https://partner.example' },
        200,
      ],
      [
        'a partner writes',
        'POST',
        { ...script, 'sec-fetch-site': 'cross-site', origin: 'https://partner.example' },
        200,
      ],
      [
        'another site sends a form',
        'POST',
        { ...navigation, 'sec-fetch-site': 'cross-site', origin: 'https://evil.example' },
        403,
      ],
      [
        'a neighbour sends a form',
        'POST',
        { ...navigation, 'sec-fetch-site': 'same-site', origin: 'https://a.example.com' },
        403,
      ],
      ['a sandbox deletes', 'DELETE', { origin: 'null' }, 403],
      ['another site writes without saying who', 'PUT', { 'sec-fetch-site': 'cross-site' }, 403],
    ];
  for (const [sentence, method, headers, status] of rows)
    t.equal((await api.send({ method, path: '/app', headers, cookie })).status, status, sentence);
  t.equal(upstream.seen.length, rows.filter(([, , , status]) => status === 200).length);
  const foreign = { ...script, 'sec-fetch-site': 'cross-site', origin: 'https://evil.example' };
  const without = await api.send({ method: 'POST', path: '/app', headers: foreign });
  t.match(without, { status: 401 }, 'without the cookie there is nothing to misuse');
});

t.test('a WebSocket is judged by its origin alone', async (t) => {
  const gateway = await startWebGateway(t);
  const cookie = await gateway.signIn();
  const statusFor = async (origin: string | null) => {
    const connection = await connectRaw(gateway.port);
    connection.write(
      [
        'GET /app/live HTTP/1.1',
        'Host: acme.example.com',
        `Cookie: ${cookie}`,
        'Sec-Fetch-Site: same-origin',
        'Connection: Upgrade',
        'Upgrade: websocket',
        'Sec-WebSocket-Version: 13',
        'Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==',
        ...(origin === null ? [] : [`Origin: ${origin}`]),
        '\r\n',
      ].join('\r\n'),
    );
    const { status } = await connection.response();
    connection.end();
    return status;
  };
  t.equal(await statusFor('https://evil.example'), 403);
  t.equal(await statusFor(null), 403);
  t.equal(gateway.upstream.seen.length, 0);
  t.equal(await statusFor('https://acme.example.com'), 200, 'the upstream has no WebSockets');
  t.equal(gateway.upstream.seen.length, 1);
});

t.test('a refusal is a page where a person reads it', async (t) => {
  const gateway = await startWebGateway(t);
  const cookie = await gateway.signIn();
  gateway.upstream.response = (_request, response) => response.destroy();
  const broken = await gateway.open('/app/1', cookie);
  t.match(broken, { status: 502, headers: { 'content-type': 'text/html; charset=utf-8' } });
  t.match(broken.headers, { 'content-security-policy': /default-src 'none'/, 'cache-control': 'no-store' });
  t.ok(broken.text.includes(broken.headers['x-request-id']!));
  t.match(broken.text, /upstream_unavailable/);
  const forScripts = await gateway.api.send({ path: '/app/1', headers: script, cookie });
  t.match(forScripts, { status: 502, json: { code: 'upstream_unavailable' } });
  t.match(await gateway.open('/nowhere'), { status: 404, json: { code: 'not_found' } }, 'no browser route');
});

t.test('a service worker can’t come between people and the sign-in page', async (t) => {
  const { api, upstream, logLines } = await startWebGateway(t, {
    web: { path: '/area/postern' },
    routes: [{ prefix: '/', upstream: 'app', public: true }],
  });
  const get = (path: string) => api.send({ path, headers: { 'service-worker': 'script' } });
  t.equal((await get('/sw.js')).status, 403);
  t.equal((await get('/area/sw.js')).status, 403);
  const refused = await eventually('its line', () => logLines().find(({ path }) => path === '/area/sw.js'));
  t.match(refused, { outcome: 'cross_site', reason: 'service worker above the pages' });
  t.equal((await get('/app/sw.js')).status, 200);
  t.equal((await get('/area/posternish/sw.js')).status, 200);
  t.equal(upstream.seen.length, 2);
  const allowing = await startWebGateway(t, {
    web: { service_workers: 'allow' },
    routes: [{ prefix: '/', upstream: 'app', public: true }],
  });
  const allowed = await allowing.api.send({ path: '/sw.js', headers: { 'service-worker': 'script' } });
  t.equal(allowed.status, 200);
});
