import type { Test } from 'tap';
import { createApiClient } from '../support/clients/api-client.ts';
import { requestByHttp2 } from '../support/clients/http2-request.ts';
import type { RawResponse } from '../support/clients/raw-client.ts';
import { eventually } from '../support/eventually.ts';
import { isLong } from '../support/gateway/gateway-under-load.ts';
import { createHostBrowser } from '../support/pages/hosts.ts';
import { navigation, ownForm } from '../support/pages/web.ts';
import { type AskingProxy, askingProxies } from './asking-proxies.ts';
import {
  allPlaces,
  consoleHost,
  type HostsBench,
  type Place,
  places,
  portOf,
  startHostsBench,
  toldOf,
} from './hosts-bench.ts';
import { judgeHostSockets } from './judge-host-sockets.ts';

/** Runs all checks of several hosts against one proxy, configured by what is printed for it. */
export async function judgeHosts(t: Test, name: keyof typeof askingProxies): Promise<void> {
  const proxy: AskingProxy = askingProxies[name];
  const bench = await startHostsBench(t, name, proxy);
  if (bench === undefined) return;
  await t.test('people are led to the sign-in of their host, and programs aren’t', (t) => judgeLed(t, bench));
  await t.test('people sign in once, and out at once', (t) => judgeWayIn(t, bench));
  await t.test('a signed-in browser is served by the service of each host', (t) =>
    judgeServed(t, bench, proxy),
  );
  await t.test('pages of other sites use no cookie', (t) => judgeForeign(t, bench, proxy));
  await t.test('a WebSocket is of its host’s own pages', (t) => judgeHostSockets(t, bench, proxy));
  await t.test('the pages are Postern’s on every host', (t) => judgePages(t, bench));
  await t.test('a head that no one takes leaves the address of the way in to no page', (t) =>
    judgeHeads(t, bench, proxy),
  );
  await t.test('any other host is 404, and no one is asked', (t) => judgeDefault(t, bench));
  await t.test('no request is judged as of one host and delivered to another', (t) =>
    judgeConfusion(t, bench, proxy),
  );
  await t.test('a sign-out ends the sign-in at every host', (t) => judgeSignOut(t, bench));
}

/** A configuration with hosts, of which the checks without any ask about one. */
export const ofOneHost = {
  browser: true,
  config: {
    base_url: 'https://app.example',
    web: {},
    hosts: ['https://wiki.example', 'https://*.preview.example'],
  },
};

const linesOf = (headers: Readonly<Record<string, string>>) =>
  Object.entries(headers).map(([name, value]) => `${name}: ${value}`);
const fetched = { 'sec-fetch-site': 'same-origin', 'sec-fetch-mode': 'cors', 'sec-fetch-dest': 'empty' };

async function sent(
  bench: HostsBench,
  host: string,
  target: string,
  headers: Readonly<Record<string, string>> = {},
  method = 'GET',
): Promise<RawResponse> {
  const length = method === 'GET' ? [] : ['Content-Length: 0'];
  const response = await bench.send(`${method} ${target} HTTP/1.1`, [
    `Host: ${host}`,
    ...linesOf(headers),
    ...length,
  ]);
  if (response === undefined) throw new Error(`no response to ${method} ${target} at ${host}`);
  return response;
}

async function judgeLed(t: Test, bench: HostsBench): Promise<void> {
  for (const place of allPlaces) {
    const host = toldOf(place);
    const step = place === 'base' ? 'sign-in' : 'start';
    const led = await sent(bench, host, '/app/x?y=1', navigation);
    t.equal(led.status, 302, place);
    t.strictSame(led.values('location'), [`/postern/${step}?return_to=%2Fapp%2Fx%3Fy%3D1`], place);
    t.strictSame(led.values('x-auth-code'), ['not_authenticated'], place);
    t.strictSame(led.values('cache-control'), ['no-store'], place);
    for (const [target, headers, method] of [
      ['/app/x', fetched, 'GET'],
      ['/app/x', navigation, 'POST'],
      ['/programs/x', navigation, 'GET'],
    ] as const) {
      const refused = await sent(bench, host, target, headers, method);
      t.equal(refused.status, 401, `${place} ${method} ${target}`);
      t.strictSame(refused.values('www-authenticate'), ['Bearer realm="acme"'], `${place} ${target}`);
      t.strictSame(refused.values('location'), []);
      t.strictSame(refused.values('x-auth-location'), []);
    }
  }
  t.strictSame(bench.takeDelivered(), []);
}

/** Caddy and Envoy tell a wildcard's name in the client's letters. */
const toldBy = (place: Place, host: string) => (place === 'preview' ? host.toLowerCase() : host);

async function judgeServed(t: Test, bench: HostsBench, proxy: AskingProxy): Promise<void> {
  for (const place of allPlaces) {
    const host = places[place];
    const cookie = `a=1; ${bench.cookieAt(host)}`;
    for (const spelled of [host, toldOf(place), host.toUpperCase(), `${host}:1234`]) {
      const response = await sent(bench, spelled, '/app/x', { ...navigation, cookie });
      // Traefik can't write the name of a wildcard without the client's port, and leads to the right one.
      if (proxy.mode === 'traefik' && place === 'preview' && !spelled.endsWith(portOf.preview)) {
        t.equal(response.status, 302, spelled);
        t.match(response.values('location').join().toLowerCase(), `https://${toldOf(place)}/app/x`);
        continue;
      }
      t.equal(response.status, 200, spelled);
      t.strictSame(response.values('service-worker-allowed'), []);
      const [delivered, ...others] = bench.takeDelivered();
      t.strictSame(others, []);
      if (delivered === undefined) continue;
      t.equal(delivered.place, place);
      const { values } = delivered.seen;
      t.strictSame(
        ['host', 'x-forwarded-host'].map((each) => toldBy(place, values(each).join())),
        [toldOf(place), toldOf(place)],
        `told of ${spelled}`,
      );
      t.strictSame([...values('x-auth-username'), ...values('x-auth-method')], ['ada', 'session']);
      t.strictSame(values('cookie'), ['a=1']);
      const [line] = bench.decisions().filter((each) => each.request_id === values('x-request-id')[0]);
      t.equal(line?.outcome, 'ok');
    }
    for (const other of allPlaces.filter((each) => each !== place)) {
      const elsewhere = await sent(bench, toldOf(other), '/app/x', { ...fetched, cookie });
      t.equal(elsewhere.status, 401, `the cookie of ${place} at ${other}`);
    }
    const refused = await sent(bench, toldOf(place), '/strict', { 'x-api-key': bench.key });
    t.equal(refused.status, proxy.statusOf(403), `${place}: without a scope`);
    t.match(refused.values('www-authenticate'), [/error="insufficient_scope", scope="store:write"/], place);
    t.strictSame(refused.values('x-auth-code'), ['insufficient_scope'], place);
  }
  t.strictSame(bench.takeDelivered(), []);
}

async function judgeForeign(t: Test, bench: HostsBench, { statusOf }: AskingProxy): Promise<void> {
  const host = places.wiki;
  const cookie = bench.cookieAt(host);
  const own = `https://${host}`;
  const evil = { ...fetched, 'sec-fetch-site': 'cross-site', origin: 'https://evil.example' };
  const worker = { ...fetched, 'service-worker': 'script' };
  const rows: [name: string, method: string, target: string, headers: Record<string, string>, number][] = [
    ['a form of its own', 'POST', '/app/x', { ...ownForm, origin: own }, 200],
    ['a form of another', 'POST', '/app/x', { ...evil }, statusOf(403)],
    ['a form, by its origin alone', 'POST', '/app/x', { origin: 'https://evil.example' }, statusOf(403)],
    ['a script of another', 'GET', '/app/x', evil, 401],
    [
      'a frame',
      'GET',
      '/app/x',
      { ...navigation, 'sec-fetch-dest': 'iframe', 'sec-fetch-site': 'cross-site' },
      401,
    ],
    ['a link of another', 'GET', '/app/x', { ...navigation, 'sec-fetch-site': 'cross-site' }, 200],
    ['a browser that says nothing but what it accepts', 'GET', '/app/x', { accept: 'text/html' }, 200],
    ['a service worker above the pages', 'GET', '/open', worker, statusOf(403)],
    ['a service worker of a folder', 'GET', '/open/x/sw.js', worker, 200],
  ];
  for (const [name, method, target, headers, status] of rows)
    t.equal((await sent(bench, host, target, { ...headers, cookie }, method)).status, status, name);
  const unknown = await sent(bench, host, '/app/x', { accept: 'text/html' });
  t.equal(unknown.status, 302, 'a navigation, by what it accepts');
  bench.takeDelivered();
}

async function judgePages(t: Test, bench: HostsBench): Promise<void> {
  const before = bench.decisions().length;
  for (const place of allPlaces)
    for (const host of [toldOf(place), toldOf(place).toUpperCase()]) {
      const page = await sent(bench, host, '/postern/nothing', navigation);
      t.equal(page.status, 404, host);
      t.strictSame(
        page.values('referrer-policy'),
        // Only the public listener knows which host it is.
        page.values('x-request-id').length === 0 ? [] : [place === 'base' ? 'same-origin' : 'no-referrer'],
        host,
      );
    }
  t.equal((await sent(bench, places.base, '/postern/sign-in', navigation)).status, 200);
  const long = `/postern/start?return_to=/${encodeURIComponent('\u5b57'.repeat(600))}`;
  const led = await sent(bench, places.wiki, long, navigation);
  t.equal(led.status, 200, 'an address of several KiB is led on');
  t.ok(led.values('refresh').join().length > 5_000);
  t.equal((await sent(bench, places.base, '/.well-known/jwks.json')).status, 200);
  t.equal((await sent(bench, places.wiki, '/.well-known/jwks.json')).status >= 400, true);
  const console = await sent(bench, consoleHost, '/postern/console/', navigation);
  t.equal(console.status, 302, 'the console leads to its sign-in');
  t.match(console.values('location'), [/^\/postern\/sign-in/]);
  for (const target of ['/app/x', '/open/x', '/'])
    t.equal((await sent(bench, consoleHost, target)).status, 404, target);
  // At a named host that path is a route's, and asked about.
  t.equal(bench.decisions().length, before + 1);
  t.strictSame(bench.takeDelivered(), []);
}

/** A script of a service can make its browser's cookies larger than a server takes; the code in the address is not spent then. */
async function judgeHeads(t: Test, bench: HostsBench, { mode }: AskingProxy): Promise<void> {
  const sizes = [10_000, 40_000, 120_000, 720_000];
  for (const place of allPlaces.filter((each) => each !== 'base'))
    for (const size of sizes) {
      const cookie = `a=${'x'.repeat(3_900)}; `.repeat(size / 4_000) + 'b=1';
      const response = await sent(bench, toldOf(place), '/postern/enter?code=x', { ...navigation, cookie });
      const what = `${place}, ${size} bytes: ${response.status}`;
      t.match(`${response.status}`, /^(?:302|400|431)$/, what);
      // HAProxy's answer to what fits no buffer can't be changed.
      if (mode === 'haproxy' && size > 32_768) continue;
      t.strictSame(response.values('cross-origin-opener-policy'), ['same-origin'], what);
      t.strictSame(response.values('referrer-policy'), ['no-referrer'], what);
      // Firefox tells the address of a page in spite of that: it is shown elsewhere, or by Postern, which spends the code.
      const isElsewhere = response.status === 302 && response.values('location').join() === '/postern/enter';
      t.ok(isElsewhere || response.values('x-request-id').length === 1, `${what}, by Postern or elsewhere`);
    }
  // Browsers take an opener policy that is there twice for none.
  for (const host of allPlaces.map(toldOf)) {
    const refused = await sent(bench, host, '/app//x', navigation);
    for (const name of ['cross-origin-opener-policy', 'referrer-policy'])
      t.ok(refused.values(name).length <= 1, `${host}: ${refused.status}, ${name} once`);
  }
  t.strictSame(bench.takeDelivered(), []);
}

async function judgeDefault(t: Test, bench: HostsBench): Promise<void> {
  const before = bench.logLines().filter((line) => line.msg === 'request').length;
  const hosts = [
    'other.example',
    'x.wiki.acme.example.com',
    'preview.acme.dev',
    'a.b.preview.acme.dev',
    '192.0.2.1',
  ];
  for (const host of hosts)
    for (const target of ['/open/x', '/app/x', '/postern/start', '/postern/sign-in', '/']) {
      const response = await sent(bench, host, target, { ...navigation, cookie: bench.webCookie });
      t.equal(response.status, 404, `${host}${target}`);
    }
  t.strictSame(bench.takeDelivered(), []);
  t.equal(bench.logLines().filter((line) => line.msg === 'request').length, before, 'Postern heard nothing');
}

/** Hosts in the spellings that servers read differently. */
const spelledHosts = [
  ...[places.wiki, places.base, places.files, places.preview, consoleHost, 'other.example'],
  ...[
    'WIKI.acme.example.com',
    'wiki.acme.example.com.',
    'wiki.acme.example.com..',
    'wiki.acme.example.com:443',
  ],
  ...[
    'wiki.acme.example.com.:99',
    'wiki.acme.example.com:',
    'wiki.acme.example.com:x',
    'wiki.acme.example.com:80:80',
  ],
  ...[
    '*.preview.acme.dev',
    'a.b.preview.acme.dev',
    '.preview.acme.dev',
    'preview.acme.dev',
    '_x.preview.acme.dev',
  ],
  ...[
    'A1.preview.acme.dev:1',
    `${'a'.repeat(64)}.preview.acme.dev`,
    'a b.preview.acme.dev',
    'a/.preview.acme.dev',
  ],
  ...[
    'wiki.acme.example.com,acme.example.com',
    'wiki.acme.example.com acme.example.com',
    'acme.example.com@wiki.acme.example.com',
  ],
  ...[
    'wiki.acme.example.com/',
    'wiki.acme.example.com/open',
    'wiki%2eacme.example.com',
    'wiki_acme.example.com',
  ],
  ...[
    'http://wiki.acme.example.com',
    'wiki.acme.example.com\t',
    'wiki.acme.example.com\\',
    'wiki.acme.example.com?',
  ],
  ...[
    'wiki.acme.example.com#',
    '[::1]',
    '127.0.0.1',
    '',
    'wiki.acme.example.com\x00',
    'wiki.acme.example.com\xe9',
  ],
];

/** Lines in which a client claims a host. */
function claims(host: string): string[][] {
  return [
    [`X-Forwarded-Host: ${host}`],
    [`X-Original-Host: ${host}`],
    [`X_Original_Host: ${host}`],
    [`X-Original-URL: http://${host}/open/x`],
    [`Forwarded: host=${host}`],
    [`X-Host: ${host}`],
    [`Connection: Host, X-Original-Host, X-Forwarded-Host`],
  ];
}

async function judgeConfusion(t: Test, bench: HostsBench, { speaksHttp2 }: AskingProxy): Promise<void> {
  const before = bench.decisions().length;
  let count = 0;
  const send = async (requestLine: string, lines: readonly string[]) => {
    count += 1;
    await bench.send(requestLine, lines);
  };
  const few = [places.wiki, places.base, toldOf('preview'), 'other.example', `${places.files}:1`];
  for (const host of spelledHosts) {
    await send('GET /open/x HTTP/1.1', [`Host: ${host}`]);
    await send('GET /open/x HTTP/1.0', [`Host: ${host}`]);
    await send(`GET http://${host}/open/x HTTP/1.1`, [`Host: ${host}`]);
    for (const other of isLong ? few : few.slice(0, 2)) {
      await send(`GET http://${host}/open/x HTTP/1.1`, [`Host: ${other}`]);
      await send(`GET http://${other}/open/x HTTP/1.1`, [`Host: ${host}`]);
      await send('GET /open/x HTTP/1.1', [`Host: ${host}`, `Host: ${other}`]);
      await send('GET /open/x HTTP/1.1', [`Host: ${other}`, `Host: ${host}`]);
    }
  }
  await send('GET /open/x HTTP/1.1', []);
  await send('GET /open/x HTTP/1.0', []);
  for (const host of few)
    for (const other of few) {
      await send(`GET https://${host}:443/open/x HTTP/1.1`, [`Host: ${other}`]);
      await send(`GET http://x@${host}/open/x HTTP/1.1`, [`Host: ${other}`]);
      await send(`GET //${host}/open/x HTTP/1.1`, [`Host: ${other}`]);
      await send(`GET http://${host}/open/x HTTP/1.0`, [`Host: ${other}`]);
      await send(`GET http://${host}/open/x HTTP/1.1`, []);
      await send('GET /open/x HTTP/1.1', [`Host : ${host}`, `Host: ${other}`]);
      await send('GET /open/x HTTP/1.1', [`Host: ${other}`, ` ${host}`]);
      for (const claim of claims(host)) await send('GET /open/x HTTP/1.1', [`Host: ${other}`, ...claim]);
    }
  if (speaksHttp2)
    for (const host of ['', ...few])
      for (const other of few) {
        count += 2;
        await requestByHttp2(bench.proxyPort, '/open/x', host, { host: other });
        await requestByHttp2(bench.proxyPort, '/open/x', other, {
          'x-forwarded-host': host,
          'x-original-host': host,
        });
      }
  const judged = new Map(
    bench
      .decisions()
      .slice(before)
      .map((line) => [line.request_id, line]),
  );
  const wrong: string[] = [];
  const delivered = bench.takeDelivered();
  for (const { place, seen } of delivered) {
    const line = judged.get(seen.values('x-request-id')[0]!);
    const route =
      place === 'base' ? '/open' : `${place === 'preview' ? '*.preview.acme.dev' : places[place]}/open`;
    const [host, forwarded] = [seen.values('host'), seen.values('x-forwarded-host')];
    const isTold =
      place === 'preview'
        ? /^[a-z0-9_-]{1,63}\.preview\.acme\.dev:8444$/i.test(host[0]!)
        : host[0] === toldOf(place);
    const isRight =
      line?.route === route &&
      isTold &&
      host.length === 1 &&
      forwarded.join() === host[0] &&
      /^\/open(?:\/open)?\/x$/.test(seen.target);
    if (!isRight) wrong.push(`${place}: ${line?.route} ${host} ${forwarded} ${seen.target}`);
  }
  t.strictSame(wrong, []);
  t.ok(delivered.length > 10, `${delivered.length} of ${count} were delivered`);
}

/** The whole way, with a browser that knows only the proxy. */
async function judgeWayIn(t: Test, bench: HostsBench): Promise<void> {
  const browser = createHostBrowser({ api: createApiClient(bench.proxyPort, bench.secrets) });
  const origins = Object.fromEntries(allPlaces.map((place) => [place, `https://${toldOf(place)}`]));
  const first = await browser.signIn(`${origins.wiki}/app/x?y=1`);
  t.match(first, { status: 200, url: `${origins.wiki}/app/x?y=1`, text: 'served' });
  for (const place of ['files', 'preview', 'base'] as const) {
    const shown = await browser.open(`${origins[place]}/app/x`);
    t.match(
      shown,
      { status: 200, url: `${origins[place]}/app/x`, text: 'served' },
      `${place}, without a question`,
    );
  }
  const delivered = bench.takeDelivered();
  t.strictSame(
    delivered.map(({ place, seen }) => [place, ...seen.values('x-auth-username')]),
    ['base', 'wiki', 'files', 'preview'].map((place) => [place, 'ada']),
  );
  const headers = { ...ownForm, origin: origins.files! };
  const signedOut = await browser.send(`${origins.files}/postern/sign-out`, { method: 'POST', headers });
  t.match(signedOut, { status: 303, headers: { location: '/postern/signed-out' } });
  for (const place of allPlaces)
    await eventually(`${place} asks for a sign-in`, async () => {
      const { url } = await browser.open(`${origins[place]}/app/x`);
      return url.startsWith(`${origins.base}/postern/sign-in?`);
    });
  bench.takeDelivered();
}

async function judgeSignOut(t: Test, bench: HostsBench): Promise<void> {
  const asked = () => sent(bench, places.wiki, '/app/x', { ...fetched, cookie: bench.cookieAt(places.wiki) });
  t.equal((await asked()).status, 200);
  const headers = { ...ownForm, origin: `https://${places.base}`, cookie: bench.webCookie };
  const signedOut = await sent(bench, places.base, '/postern/sign-out', headers, 'POST');
  t.equal(signedOut.status, 303);
  await eventually('the cookie of the host is worth nothing', async () => (await asked()).status === 401);
  bench.takeDelivered();
}
