import t from 'tap';
import { exchangeRaw, type RawResponse } from '../support/clients/raw-client.ts';
import { startTestGateway } from '../support/gateway/gateway.ts';
import { navigation, startWebGateway, type WebGateway } from '../support/pages/web.ts';

const base64 = (text: string) => Buffer.from(text).toString('base64');
const own = { upstream: 'app', authorization: 'pass' };
const config = {
  api_keys: { bearer: true },
  cors: { origins: ['https://front.example'] },
  routes: [
    { prefix: '/own', ...own },
    { prefix: '/web', ...own, browser: true },
    { prefix: '/free', ...own, public: true },
    { prefix: '/store', ...own, scopes: ['store:write'] },
    { prefix: '/judged', upstream: 'app', browser: true },
    { prefix: '/api', upstream: 'app' },
  ],
};

/** Sends a request as bytes. */
async function send(
  { port }: { readonly port: number },
  path: string,
  lines: readonly string[],
  method = 'GET',
): Promise<RawResponse> {
  const head = [`${method} ${path} HTTP/1.1`, 'Host: acme.example.com', 'Connection: close', ...lines];
  const { responses } = await exchangeRaw(port, `${head.join('\r\n')}\r\n\r\n`);
  return responses[0]!;
}

/** A gateway with a token, a key of it and the web cookie. */
async function start(t: Parameters<typeof startWebGateway>[0], more: object = {}) {
  const gateway = await startWebGateway(t, { ...config, ...more });
  const { accessToken } = await gateway.api.signIn('ada', 'correct horse battery staple');
  const { key } = await gateway.api.mintKey(accessToken, { label: 'k', scopes: ['store:read'] });
  return { ...gateway, bearer: accessToken, key, cookie: await gateway.signIn() };
}

/** What the upstream saw last of the two headers, and who was calling. */
function lastSeen({ upstream }: Pick<WebGateway, 'upstream'>) {
  const last = upstream.seen.at(-1)!;
  const [authorization, apiKey] = ['authorization', 'x-api-key'].map((name) => last.values(name));
  return { authorization, apiKey, method: last.values('x-auth-method')[0] };
}

/** Headers of applications, as they are sent. */
const ofApplications: readonly string[] = [
  'Bearer sk-proj-1234',
  `Bearer ${base64('{"alg":"HS256","typ":"JWT"}').replaceAll('=', '')}.${base64('{"iss":"https://acme.example.com"}').replaceAll('=', '')}.c2ln`,
  `Basic ${base64('admin:admin')}`,
  'Basic not base64!',
  'Token 1234567890abcdef',
  'AWS4-HMAC-SHA256 Credential=AKIA/20261127/eu/s3/aws4_request, SignedHeaders=host, Signature=ab',
  'Digest username="a:pst", realm="x"',
  'Bearer',
  'Bearer my-pst_1',
  'Bearer PST_1',
  '\xe9\xff',
  '',
];

t.test('an Authorization of the application reaches it, beside every credential of ours', async (t) => {
  const gateway = await start(t);
  const { key, bearer, cookie } = gateway;
  for (const value of ofApplications) {
    const passed = [`Authorization: ${value}`];
    const rows: readonly [path: string, lines: string[], method: string | undefined][] = [
      ['/own', [`X-API-Key: ${key}`, ...passed], 'api_key'],
      ['/web', [...passed, `Cookie: ${cookie}`], 'session'],
      ['/free', passed, undefined],
      ['/free', [...passed, `X-API-Key: ${key}`], 'api_key'],
    ];
    for (const [path, lines, method] of rows) {
      t.equal((await send(gateway, path, lines)).status, 200, `${path} ${value}`);
      t.strictSame(lastSeen(gateway), { authorization: [value], apiKey: [], method });
    }
    t.equal(
      (await send(gateway, '/own', [`Authorization: Bearer ${bearer}`, `X-API-Key: ${value}`])).status,
      200,
    );
    t.strictSame(lastSeen(gateway), { authorization: [], apiKey: [value], method: 'session' });
    const both = [`Authorization: ${value}`, `X-API-Key: ${value}`, `Cookie: ${cookie}`];
    t.equal((await send(gateway, '/web', both)).status, 200);
    t.strictSame(lastSeen(gateway), { authorization: [value], apiKey: [value], method: 'session' });
  }
});

t.test('a browser’s WebSocket is signed in by its subprotocol beside it', async (t) => {
  const gateway = await start(t);
  const lines = [
    ...['Connection: Upgrade', 'Upgrade: websocket', 'Origin: https://front.example'],
    `Sec-WebSocket-Protocol: postern, postern.bearer.${gateway.bearer}`,
  ];
  t.equal((await send(gateway, '/own', [...lines, 'Authorization: Basic YTpi'])).status, 200);
  t.strictSame(lastSeen(gateway), { authorization: ['Basic YTpi'], apiKey: [], method: 'session' });
  t.equal((await send(gateway, '/own', [...lines, `X-API-Key: ${gateway.key}`])).status, 400);
  t.equal((await send(gateway, '/judged', [...lines, 'Authorization: Basic YTpi'])).status, 400);
});

t.test('what is ours is judged where it belongs, refused elsewhere, and goes nowhere', async (t) => {
  const gateway = await start(t);
  const { key, bearer, cookie, upstream } = gateway;
  const spelled = (credential: string): readonly string[] => [
    `Token ${credential}`,
    `Bearer  ${credential}`,
    `bearer\t${credential}`,
    `Bearer "${credential}"`,
    `Bearer x, Bearer ${credential}`,
    `Basic ${base64(`x:${credential}`)}`,
    `Basic ${base64(`${credential}:x`)}`,
    `basic ${base64(`x:${credential}`).replace(/=+$/, '')}`,
    `BASIC ${Buffer.from(`\u{fffe}?>~:${credential}`).toString('base64url')}`,
    `Digest a=b, Basic ${base64(`x:${credential}`)}`,
    `${credential}`,
    `Key key="${credential}"`,
  ];
  for (const [kind, credential] of Object.entries({ key, token: bearer }))
    for (const value of spelled(credential))
      for (const [path, more] of [
        ['/own', []],
        ['/web', [`Cookie: ${cookie}`]],
        ['/free', []],
      ] as const) {
        const refused = await send(gateway, path, [`Authorization: ${value}`, ...more]);
        t.equal(refused.status, 401, `${path} ${kind}`);
        t.match(refused.values('www-authenticate')[0], /error="invalid_token"/);
        const asKey = await send(gateway, path, [`X-API-Key: x ${value}`, ...more]);
        t.match(asKey, { status: 401, json: { code: 'invalid_api_key' } });
      }
  t.equal(upstream.seen.length, 0);
  for (const value of [`Bearer ${key}`, `bearer ${key}`, `Bearer ${bearer}`]) {
    t.equal((await send(gateway, '/own', [`Authorization: ${value}`, 'X-API-Key: mine'])).status, 200);
    t.match(lastSeen(gateway), { authorization: [], apiKey: ['mine'] });
  }
  t.equal((await send(gateway, '/store', [`X-API-Key: ${key}`, 'Authorization: Basic YTpi'])).status, 403);
  const wrong = await send(gateway, '/own', ['Authorization: Bearer pst_nothing']);
  t.match(wrong, { status: 401, json: { code: 'invalid_api_key' } });
});

t.test('each is there once, and ours once', async (t) => {
  const gateway = await start(t);
  const { key, bearer, upstream } = gateway;
  for (const path of ['/own', '/free'])
    for (const lines of [
      ['Authorization: Basic YTpi', 'Authorization: Basic YTpi'],
      ['X-API-Key: a', 'X-API-Key: b'],
      [`X-API-Key: ${key}`, `Authorization: Bearer ${bearer}`],
      [`X-API-Key: ${key}`, `Authorization: Token ${key}`],
    ])
      t.match(await send(gateway, path, lines), { status: 400, json: { code: 'ambiguous_credentials' } });
  t.equal(upstream.seen.length, 0);
});

t.test('a 401 says what is wrong only of what was ours; people are led to the sign-in page', async (t) => {
  const gateway = await start(t);
  const { key, api } = gateway;
  const nobody = await send(gateway, '/own', ['Authorization: Bearer sk-1', 'X-API-Key: mine']);
  t.match(nobody, { status: 401, json: { code: 'not_authenticated' } });
  t.strictSame(nobody.values('www-authenticate'), ['Bearer realm="acme"']);
  const ended = await send(gateway, '/own', [`X-API-Key: ${key.slice(0, -1)}!`]);
  t.strictSame(ended.values('www-authenticate'), ['Bearer realm="acme", error="invalid_token"']);
  const basic = { ...navigation, authorization: 'Basic YTpi' };
  const led = await api.send({ path: '/web/x', headers: basic });
  t.match(led, { status: 302, headers: { location: '/postern/sign-in?return_to=%2Fweb%2Fx' } });
  t.equal((await api.send({ path: '/judged', headers: basic })).status, 401);
  const ours = { ...navigation, authorization: `Basic ${base64(`x:${key}`)}` };
  t.match(await api.send({ path: '/web', headers: ours }), { status: 401, text: /sent another password/ });
});

t.test('a preflight passes neither', async (t) => {
  const routes = [{ prefix: '/own', ...own, preflight: 'upstream' }];
  const gateway = await start(t, { cors: { origins: [] }, routes });
  const lines = ['Origin: https://a.example', 'Access-Control-Request-Method: PUT'];
  const sent = [...lines, 'Authorization: Basic YTpi', 'X-API-Key: a'];
  t.equal((await send(gateway, '/own', sent, 'OPTIONS')).status, 200);
  t.strictSame(lastSeen(gateway), { authorization: [], apiKey: [], method: undefined });
});

t.test('a key of an earlier prefix is ours for good, whoever minted it', async (t) => {
  const routes = [
    { prefix: '/own', ...own, public: true },
    { prefix: '/api', upstream: 'app' },
  ];
  const gateway = await start(t, { routes, api_keys: { prefix: 'old' } });
  const { key, bearer, api, upstream } = gateway;
  t.match(key, /^old_/);
  await gateway.reload({ web: {}, routes, api_keys: { prefix: 'new' } });
  const status = async (value: string) =>
    (await send(gateway, '/own', [`Authorization: Token ${value}`])).status;
  t.equal(await status(key), 401);
  t.equal(await status('new_1'), 401);
  t.equal(await status('old_1'), 200, 'an application may have tokens that begin like ours did');
  const { items } = (await api.send({ path: '/api/admin/api-keys/', bearer })).json;
  for (const { id } of items) await api.send({ method: 'DELETE', path: `/api/admin/api-keys/${id}`, bearer });
  t.equal(await status(key), 401, 'even when it is deleted');
  const other = await startTestGateway(t, {
    folder: gateway.folder,
    config: { api_keys: { prefix: 'third' } },
  });
  const { key: third } = await other.api.mintKey(bearer, { label: 'k', scopes: ['store:read'] });
  gateway.secrets.add(third);
  t.equal(await status(third), 401, 'another gateway on the records minted it');
  t.equal(upstream.seen.length, 1);
});
