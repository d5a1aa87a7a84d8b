import t, { type Test } from 'tap';
import { exchangeRaw } from '../support/clients/raw-client.ts';
import { eventually } from '../support/eventually.ts';
import { administrator } from '../support/gateway/gateway.ts';
import { ownForm, startWebGateway, type WebGateway } from '../support/pages/web.ts';

const own = 'https://acme.example.com';
const html = 'Accept: text/html';

/** A response with its access line, to a form that was sent with these lines of the head. */
async function send(gateway: WebGateway, target: string, ...lines: string[]) {
  const head = [`POST ${target} HTTP/1.1`, ...lines, 'Content-Length: 0', 'Connection: close', '', ''];
  const { responses } = await exchangeRaw(gateway.port, head.join('\r\n'));
  const response = responses[0]!;
  const [id] = response.values('x-request-id');
  const line = await eventually('its line', () => gateway.logLines().find((one) => one.request_id === id));
  return { response, line };
}

/** The address that the page leads to, and those of all its other links. */
function linksOf(text: string) {
  const links = [...text.matchAll(/<a href="([^"]*)"/g)].map(([, href]) => href);
  return { first: links[0], count: links.length };
}

const start = (t: Test) => startWebGateway(t, { cors: { origins: ['https://app.example.com'] } });

t.test('a form that was sent under another name is refused, and leads to base_url', async (t) => {
  const gateway = await start(t);
  const here = `127.0.0.1:${gateway.port}`;
  const names: [what: string, host: string, ...lines: string[]][] = [
    ['the machine’s address', here, `Origin: http://${here}`],
    ['another port', '10.0.0.5:8080', 'Origin: http://10.0.0.5:8080'],
    ['the default port', 'stock.example:80', 'Origin: http://stock.example'],
    ['a rebound name, too: it is refused as before', 'evil.example', 'Origin: http://evil.example'],
  ];
  for (const [what, host, ...lines] of names) {
    const { response, line } = await send(
      gateway,
      '/postern/sign-in?return_to=/x',
      `Host: ${host}`,
      html,
      ...lines,
    );
    t.equal(response.status, 403, what);
    t.strictSame(response.values('set-cookie'), []);
    t.match(response.text, /<h1>This service is at https:\/\/acme\.example\.com<\/h1>/);
    t.strictSame(linksOf(response.text), { first: `${own}/postern/sign-in`, count: 1 });
    t.match(line, {
      outcome: 'cross_site',
      reason: 'another name than base_url',
      origin: lines[0]!.slice('Origin: '.length),
      base_url: own,
    });
  }
  const origin = `http://${here}`;
  const referers: [referer: string, leadsTo: string][] = [
    [`${origin}/postern/sign-in?return_to=%2Fapp`, '/postern/sign-in?return_to=%2Fapp'],
    [`${origin}/app/orders?year=2026`, '/app/orders?year=2026'],
    ['https://evil.example/steal', '/app/orders'],
    [`${origin}//evil.example/`, '/app/orders'],
    ['no address', '/app/orders'],
  ];
  for (const [referer, leadsTo] of referers) {
    const cookie = `Cookie: ${await gateway.signIn()}`;
    const lines = [`Host: ${here}`, html, `Origin: ${origin}`, `Referer: ${referer}`, cookie];
    const { response } = await send(gateway, '/app/orders', ...lines);
    t.equal(response.status, 403, referer);
    t.equal(linksOf(response.text).first, own + leadsTo, referer);
  }
  t.equal(gateway.upstream.seen.length, 0, 'nothing was passed on');
});

t.test('programs get the same response as before', async (t) => {
  const gateway = await start(t);
  const { response, line } = await send(
    gateway,
    '/api/login/access-token',
    'Host: 10.0.0.5:8080',
    'Origin: http://10.0.0.5:8080',
  );
  t.match(response, { status: 403, json: { code: 'cross_site', detail: 'Cross-site request' } });
  t.notMatch(response.text, own);
  t.equal(line.reason, 'another name than base_url');
});

t.test('a page of another site stays one', async (t) => {
  const gateway = await start(t);
  const evil = 'https://evil.example';
  const rows: [what: string, logged: string | undefined, ...lines: string[]][] = [
    ['another origin', evil, `Origin: ${evil}`, 'Sec-Fetch-Site: cross-site'],
    ['another host of the same site', 'https://wiki.example.com', 'Origin: https://wiki.example.com'],
    ['another origin that spoofs nothing but Origin', 'http://evil.example', 'Origin: http://evil.example'],
    [
      'an http page of the same host, by a browser that knows',
      'http://a',
      'Origin: http://a',
      'Sec-Fetch-Site: cross-site',
    ],
    ['another port of the same host', 'http://a:81', 'Origin: http://a:81'],
    ['one of cors.origins', 'https://app.example.com', 'Origin: https://app.example.com'],
    ['a sandbox', undefined, 'Origin: null'],
    ['a user in the origin', undefined, 'Origin: http://a@evil.example'],
    ['no origin at all', undefined, 'Origin: http://a/path'],
    ['two', undefined, 'Origin: http://a', 'Origin: http://a'],
    ['a very long one', undefined, `Origin: http://a.${'b'.repeat(300)}`],
  ];
  for (const [what, logged, ...lines] of rows) {
    const { response, line } = await send(gateway, '/postern/sign-in', 'Host: a', html, ...lines);
    t.equal(response.status, 403, what);
    t.match(response.text, /This came from another site/, what);
    t.equal(line.reason, 'foreign page', what);
    t.equal(line.origin, logged, what);
  }
});

t.test('the sign-in page knows its own names, and a WebSocket says why it is refused', async (t) => {
  const gateway = await start(t);
  t.match((await gateway.open('/postern/sign-in')).text, `data-origins="${own}" hidden`);
  const cookie = await gateway.signIn();
  const response = await gateway.api.send({
    path: '/app/ws',
    cookie,
    headers: {
      connection: 'upgrade',
      upgrade: 'websocket',
      origin: 'http://localhost:8080',
      'sec-fetch-site': 'same-origin',
      'sec-websocket-version': '13',
      'sec-websocket-key': 'dGhlIHNhbXBsZSBub25jZQ==',
    },
  });
  t.match(response, { status: 403, json: { code: 'cross_site' } });
  t.match(
    gateway.logLines().findLast(({ msg }) => msg === 'request'),
    {
      reason: 'another name than base_url',
      origin: 'http://localhost:8080',
      base_url: own,
    },
  );
});

const names = [
  { name: 'http://localhost:8080', baseUrl: 'http://127.0.0.1:8080', saysSite: true },
  { name: 'https://other.example.com', baseUrl: own, saysSite: true },
  { name: 'http://10.0.0.5:8080', baseUrl: 'http://acme.example.com:8080', saysSite: false },
];

for (const { name, baseUrl, saysSite } of names)
  t.test(`${name} for ${baseUrl} does what docs/troubleshooting.md says`, async (t) => {
    const { api, upstream } = await startWebGateway(t, { base_url: baseUrl });
    const { accessToken } = await api.signIn(administrator.username, administrator.password);
    const { key } = await api.mintKey(accessToken, { label: 'script', scopes: ['store:read'] });
    // Browsers send Fetch metadata to https and loopback addresses alone.
    const here = { host: new URL(name).host, origin: name, ...(saysSite && ownForm) };
    const signIn = (headers: Record<string, string>) =>
      api.send({ method: 'POST', path: '/postern/sign-in', form: { ...administrator }, headers });
    const cookie = (await signIn(ownForm)).setCookies[0]!.split(';', 1)[0]!;
    const webSocket = {
      ...here,
      connection: 'upgrade',
      upgrade: 'websocket',
      'sec-websocket-version': '13',
      'sec-websocket-key': 'dGhlIHNhbXBsZSBub25jZQ==',
    };
    const path = '/app/orders';
    const { host } = here;
    const open = (target: string, more: object) =>
      api.send({ path: target, headers: { host, accept: 'text/html' }, ...more });
    t.equal((await open('/postern/sign-in', {})).status, 200);
    t.equal((await open(path, { cookie })).status, 200, 'a page');
    t.equal((await open(path, { apiKey: key })).status, 200, 'a key');
    t.equal((await signIn(here)).status, saysSite ? 303 : 403, 'signing in');
    t.equal((await api.send({ method: 'POST', path, headers: here, cookie })).status, saysSite ? 200 : 403);
    const before = upstream.seen.length;
    t.equal((await api.send({ path, headers: webSocket, cookie })).status, 403, 'a WebSocket');
    const protocol = `postern, postern.bearer.${accessToken}`;
    const offering = { ...webSocket, 'sec-websocket-protocol': protocol };
    t.equal((await api.send({ path, headers: offering })).status, 403, 'a WebSocket with a token');
    t.equal(upstream.seen.length, before);
    t.not((await api.send({ path, headers: webSocket, apiKey: key })).status, 403, 'of a program');
    t.equal(upstream.seen.length, before + 1);
  });
