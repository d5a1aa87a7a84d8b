import t from 'tap';
import { navigation, startWebGateway } from '../support/pages/web.ts';

const config = {
  upstreams: { app: { url: 'builtin:echo' } },
  routes: [
    { prefix: '/site', upstream: 'app', browser: true, public: true },
    { prefix: '/', upstream: 'app', browser: true },
  ],
};

t.test('the echo of the quick start shows people who is signed in', async (t) => {
  const { open, signIn, api } = await startWebGateway(t, config, { showsEchoPage: true });
  const cookie = await signIn();
  const page = await open('/orders?year=2026&x=<b>', cookie);
  t.equal(page.status, 200);
  t.match(page.headers, {
    'content-type': 'text/html; charset=utf-8',
    'content-security-policy': /default-src 'none'/,
    'cache-control': /no-store/,
  });
  t.match(page.text, '<h1>Hello, ada</h1>');
  t.match(page.text, '<code>GET /orders?year=2026&amp;x=&lt;b></code>');
  t.match(page.text, '<dt>X-Auth-Method</dt><dd><code>session</code></dd>');
  t.notMatch(page.text, '_refresh_cookie', 'the cookie went no further than Postern');
  t.notMatch(page.text, 'Open the console');

  const forScript = await api.send({ path: '/orders', cookie, headers: { 'sec-fetch-site': 'same-origin' } });
  t.match(forScript.json, { method: 'GET', target: '/orders', body_length: 0 });
  const sent = await api.send({ method: 'POST', path: '/orders', cookie, headers: navigation, body: 'a=1' });
  t.match(sent.text, 'POST /orders');
});

t.test('it names nobody on a public route', async (t) => {
  const { open } = await startWebGateway(t, config, { showsEchoPage: true });
  const page = await open('/site');
  t.match(page.text, '<h1>Hello</h1>');
  t.match(page.text, 'Sign in');
});

t.test('any other echo returns JSON to everyone', async (t) => {
  const { open, signIn } = await startWebGateway(t, config);
  const response = await open('/orders', await signIn());
  t.match(response.headers, { 'content-type': 'application/json' });
  t.match(response.json, { method: 'GET', target: '/orders' });
});

t.test('it leads to the console if there is one', async (t) => {
  const web = { console: {} };
  const { open, signIn } = await startWebGateway(t, { ...config, web }, { showsEchoPage: true });
  const { text } = await open('/', await signIn());
  t.match(text, /Call it from a program.*href="\/postern\/console\/api-keys"/s);
  t.match(text, /<a href="\/postern\/console\/"[^>]*>Open the console/);
});
