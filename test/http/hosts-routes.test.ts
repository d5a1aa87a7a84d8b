import t, { type Test } from 'tap';
import type { ApiRequest } from '../support/clients/api-client.ts';
import { exchangeRaw } from '../support/clients/raw-client.ts';
import { type Forwarding, startForwarding } from '../support/gateway/forwarding.ts';
import { engine } from '../support/gateway/gateway.ts';
import { scrape } from '../support/gateway/scrape.ts';
import { navigation } from '../support/pages/web.ts';

const base = 'acme.example.com';
const wiki = 'wiki.acme.example.com';
const preview = 'pr-7.preview.acme.dev';
const hosts = [`https://${wiki}`, 'https://*.preview.acme.dev:8443'];
const routes = [
  { host: wiki, prefix: '/', upstream: 'app', browser: true },
  { host: wiki, prefix: '/api', upstream: 'app' },
  { host: wiki, exact: '/open', upstream: 'app', public: true },
  { host: '*.preview.acme.dev', prefix: '/site', upstream: 'app', public: true },
  { host: '*.preview.acme.dev', prefix: '/decided', upstream: 'none' },
  { prefix: '/app', upstream: 'app' },
  { prefix: '/open', upstream: 'app', public: true },
];
const engines = engine === 'node' ? ['node'] : ['built_in', 'node'];

const start = (t: Test, config: object = {}) =>
  startForwarding(t, { web: {}, hosts, routes, endpoints: { self: 'own' }, ...config });
/** Status of a request to a host, with the key unless `more` says otherwise, and the route in its log line. */
function createAsk({ api, key, logLines }: Forwarding) {
  return async (host: string, path: string, more: Partial<ApiRequest> = {}) => {
    const { headers = {}, ...others } = more;
    const response = await api.send({ path, apiKey: key, ...others, headers: { host, ...headers } });
    const line = logLines().findLast(({ request_id: id }) => id === response.headers['x-request-id']);
    return { ...response, route: line?.route };
  };
}

for (const engine of engines)
  t.test(`the routes of a host alone count there, on the engine ${engine}`, async (t) => {
    const gateway = await start(t, { listen: { engine } });
    const ask = createAsk(gateway);
    const rows: readonly [host: string, path: string, status: number, route: string][] = [
      [wiki, '/', 200, `${wiki}/`],
      [wiki, '/app/x', 200, `${wiki}/`],
      [`${wiki.toUpperCase()}.:443`, '/x', 200, `${wiki}/`],
      [wiki, '/api/login/access-token', 200, `${wiki}/api`],
      [wiki, '/api/self', 200, `${wiki}/api`],
      [wiki, '/api/admin/api-keys/', 200, `${wiki}/api`],
      [wiki, '/.well-known/jwks.json', 200, `${wiki}/`],
      [wiki, '/open', 200, `${wiki}/open`],
      [preview, '/site/x', 200, '*.preview.acme.dev/site'],
      [preview, '/', 404, ''],
      [preview, '/app', 404, ''],
      [preview, '/open', 404, ''],
      [preview, '/api/self', 404, ''],
      [preview, '/.well-known/jwks.json', 404, ''],
      [preview, '/decided', 404, '*.preview.acme.dev/decided'],
      [base, '/app/x', 200, '/app'],
      [base, '/', 404, ''],
      [base, '/site/x', 404, ''],
      ['elsewhere.example', '/app/x', 200, '/app'],
      ['a.b.preview.acme.dev', '/open', 200, '/open'],
      ['preview.acme.dev', '/site', 404, ''],
      ['[::1]:8080', '/open', 200, '/open'],
    ];
    for (const [host, path, status, route] of rows) {
      const before = gateway.upstream.seen.length;
      const response = await ask(host, path);
      t.equal(response.status, status, `${host}${path}`);
      t.equal(response.route ?? '', route, `${host}${path}`);
      const isForwarded = status === 200 && route !== '';
      t.equal(gateway.upstream.seen.length - before, isForwarded ? 1 : 0, `${host}${path}`);
      if (isForwarded) t.equal(gateway.upstream.seen.at(-1)!.target, path);
    }
    const { families } = await scrape(gateway.managementPort);
    const labels = [...families.values()].flatMap(({ samples }) =>
      samples.map((sample) => sample.labels.route),
    );
    for (const label of [`${wiki}/`, `${wiki}/api`, '*.preview.acme.dev/site', '/app', '/open'])
      t.ok(labels.includes(label), `a series for ${label}`);
    t.notOk(
      labels.some((label) => label?.includes('pr-7')),
      'clients choose no label',
    );
  });

for (const engine of engines)
  t.test(`which host is read, and refused, on the engine ${engine}`, async (t) => {
    const gateway = await start(t, { listen: { engine }, trusted_proxies: ['127.0.0.1'] });
    const statusOf = async (lines: readonly string[], version = '1.1') => {
      const head = [`GET /open HTTP/${version}`, ...lines, 'Connection: close', '', ''];
      const { responses } = await exchangeRaw(gateway.port, head.join('\r\n'));
      return responses[0]?.status;
    };
    const rows: readonly [status: number, ...lines: string[]][] = [
      [200, `Host: ${wiki}`],
      [404, `Host: ${preview}`],
      [200, `Host: ${base}`],
      [400, 'Host: '],
      [400, `Host: ${wiki}`, `Host: ${wiki}`],
      [400, `Host: ${wiki}, ${wiki}`],
      [400, 'Host: a..example'],
      [404, 'Host: internal:8080', `X-Forwarded-Host: ${preview}`],
      [200, 'Host: internal:8080', `X-Forwarded-Host: ${wiki}`],
      [400, `Host: ${wiki}`, 'X-Forwarded-Host: '],
      [400, 'Host: internal', `X-Forwarded-Host: ${wiki}`, `X-Forwarded-Host: ${wiki}`],
      [400, 'Host: internal', `X-Forwarded-Host: ${wiki}, ${wiki}`],
      [400, `Host: ${base}`, `X-Forwarded-Host: ${wiki}`],
      [400, `Host: ${wiki}`, `X-Forwarded-Host: ${preview}`],
      [400, 'Host: a.preview.acme.dev', 'X-Forwarded-Host: b.preview.acme.dev'],
      [200, `Host: ${wiki}`, `X-Forwarded-Host: ${wiki}:443`],
    ];
    for (const [status, ...lines] of rows) t.equal(await statusOf(lines), status, lines.join(' | '));
    t.equal(await statusOf([], '1.0'), 200, 'a request without Host has the routes without host');
  });

t.test('X-Forwarded-Host of anyone else is nothing', async (t) => {
  const ask = createAsk(await start(t));
  t.equal((await ask(base, '/app', { headers: { 'x-forwarded-host': wiki } })).route, '/app');
  t.equal((await ask(wiki, '/app', { headers: { 'x-forwarded-host': '' } })).route, `${wiki}/`);
});

t.test('bearer tokens and API keys count at a named host, cookies of base_url don’t', async (t) => {
  const gateway = await start(t);
  const { api, upstream, bearer, key, cookie } = gateway;
  const to = (more: Partial<ApiRequest>) => api.send({ path: '/api/x', ...more, headers: { host: wiki } });
  t.equal((await to({ bearer })).status, 200);
  t.strictSame(upstream.seen.at(-1)!.values('x-auth-method'), ['session']);
  t.equal((await to({ apiKey: key })).status, 200);
  t.strictSame(upstream.seen.at(-1)!.values('x-auth-method'), ['api_key']);
  t.match(await to({ cookie }), { status: 401, json: { code: 'not_authenticated' } });
  t.equal((await to({ bearer, cookie })).status, 200);
  t.strictSame(upstream.seen.at(-1)!.values('cookie'), [], 'the refresh cookie goes to no service');
  t.strictSame(upstream.seen.at(-1)!.values('host'), [wiki]);
});

t.test('origins of other hosts are foreign at a named host', async (t) => {
  const gateway = await start(t, {
    cors: { origins: ['https://app.example.com'] },
    api_keys: { basic: true },
  });
  const { bearer, key } = gateway;
  const ask = createAsk(gateway);
  const upgrade = {
    connection: 'upgrade',
    upgrade: 'websocket',
    'sec-websocket-version': '13',
    'sec-websocket-key': 'dGhlIHNhbXBsZSBub25jZQ==',
    'sec-websocket-protocol': `v1, postern.bearer.${bearer}`,
  };
  const basic = { authorization: `Basic ${Buffer.from(`:${key}`).toString('base64')}` };
  const rows: readonly [origin: string, isOwn: boolean][] = [
    [`https://${wiki}`, true],
    [`https://${base}`, false],
    ['https://app.example.com', false],
    [`https://${preview}:8443`, false],
    [`http://${wiki}`, false],
    [`https://${wiki}:8443`, false],
  ];
  for (const [origin, isOwn] of rows) {
    const expected = isOwn ? 200 : 403;
    const send = { apiKey: undefined as never, headers: { origin, ...basic } };
    t.equal((await ask(wiki, '/api/x', { ...send, method: 'POST' })).status, expected, `Basic ${origin}`);
    const asked = await ask(wiki, '/api/x', { apiKey: undefined as never, headers: { origin, ...upgrade } });
    t.equal(
      asked.status === 401 || asked.status === 403,
      !isOwn,
      `the subprotocol ${origin}: ${asked.status}`,
    );
  }
  const allowed = await ask(wiki, '/api/x', { headers: { origin: 'https://app.example.com' } });
  t.match(allowed, {
    status: 200,
    headers: { 'access-control-allow-origin': 'https://app.example.com' },
  });
});

t.test('every refusal below web.path of a named host has the headers of its pages', async (t) => {
  const gateway = await start(t, {
    limits: { header_bytes: '4KiB', target_bytes: '2KiB', header_timeout: '300ms' },
  });
  const page = ['Sec-Fetch-Mode: navigate', 'Sec-Fetch-Dest: document'];
  const [path, long] = ['x'.repeat(3_000), 'x'.repeat(5_000)];
  const rows: readonly [status: number, path: string, lines: readonly string[], isCut?: boolean][] = [
    [400, '/postern/x', ['Host: wiki.acme.example.com', 'no header']],
    [400, '/postern/x', ['Host: wiki.acme.example.com, x']],
    [400, '/postern/%2e%2e/x', ['Host: wiki.acme.example.com']],
    [404, '/postern/none', ['Host: wiki.acme.example.com']],
    [408, '/postern/enter', ['Host: wiki.acme.example.com'], true],
    [408, '/postern/enter', [], true],
    [414, `/postern/${path}`, ['Host: wiki.acme.example.com']],
    [414, `/postern/${path}`, ['Host: x, y']],
    [417, '/postern/start', ['Host: wiki.acme.example.com', 'Expect: a miracle']],
    [431, '/postern/start', ['Host: wiki.acme.example.com', `Cookie: ${long}`]],
    [431, '/postern/start', [`Host: ${long}`]],
  ];
  for (const [status, target, lines, isCut = false] of rows)
    for (const more of [[], page]) {
      const what = `${status} ${target.slice(0, 20)} ${lines.join(' | ').slice(0, 40)}`;
      const head = [`GET ${target} HTTP/1.1`, ...lines, ...more, 'Connection: close', ''].join('\r\n');
      const { responses } = await exchangeRaw(gateway.port, isCut ? head : `${head}\r\n`);
      const [response] = responses;
      t.equal(response?.status, status, what);
      t.strictSame(response?.values('referrer-policy'), ['no-referrer'], what);
      t.strictSame(response?.values('cross-origin-opener-policy'), ['same-origin'], what);
      t.strictSame(response?.values('x-content-type-options'), ['nosniff'], what);
      t.match(response?.values('content-security-policy')[0], /default-src 'none'/, what);
    }
  const { responses } = await exchangeRaw(
    gateway.port,
    `GET /open?${path} HTTP/1.1\r\nHost: ${wiki}\r\nConnection: close\r\n\r\n`,
  );
  t.equal(responses[0]?.status, 414);
  t.strictSame(responses[0]?.values('referrer-policy'), [], 'a service’s path has none of them');
});

t.test('a service worker above the pages is refused at each host', async (t) => {
  const script = { 'service-worker': 'script' };
  const workerAt = async (t: Test, config: object) => {
    const ask = createAsk(await start(t, config));
    return (await ask(wiki, '/worker.js', { headers: script })).status;
  };
  t.equal(await workerAt(t, {}), 403);
  t.equal(await workerAt(t, { web: { service_workers: 'allow' } }), 200);
});

t.test('the routes that keys can call have the origin of their host', async (t) => {
  const gateway = await start(t);
  const { json } = await gateway.api.send({ path: '/api/admin/api-keys/routes', bearer: gateway.bearer });
  t.strictSame(json, [
    { origin: `https://${wiki}`, path: '/', exact: false, scopes: { '*': [] } },
    { origin: `https://${wiki}`, path: '/api', exact: false, scopes: { '*': [] } },
    { origin: 'https://*.preview.acme.dev:8443', path: '/decided', exact: false, scopes: { '*': [] } },
    { path: '/app', exact: false, scopes: { '*': [] } },
  ]);
});

t.test('a navigation to / of a host without a route there is led nowhere', async (t) => {
  const ask = createAsk(await start(t));
  const open = (host: string) => ask(host, '/', { apiKey: undefined as never, headers: navigation });
  t.match(await open(base), { status: 302, headers: { location: '/postern/' } });
  t.match(await open(preview), { status: 404, headers: { location: undefined } });
});
