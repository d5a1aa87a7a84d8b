import { chmodSync } from 'node:fs';
import type { Test } from 'tap';
import { temporaryFolder } from '../contract/sqlite-stores.ts';
import { requestByHttp2 } from '../support/clients/http2-request.ts';
import { connectRaw } from '../support/clients/raw-client.ts';
import { expand, readCorpus } from '../support/corpora/corpus.ts';
import { spellingsOf } from '../support/corpora/header-spellings.ts';
import { isProtected } from '../support/corpora/our-headers.ts';
import { isLong } from '../support/gateway/gateway-under-load.ts';
import { makeAuthority } from '../support/servers/issued-certificates.ts';
import type { SeenRequest } from '../support/servers/recording-upstream.ts';
import { type AskingProxy, askingProxies } from './asking-proxies.ts';
import { judgeNames } from './judge-names.ts';
import { judgeFlow, judgeWhole } from './judge-whole.ts';
import { type Asking, manyScopes, type ProxyBench, startBench, takeSeen } from './proxy-bench.ts';

/** Runs all checks against one proxy, configured by what is printed for it. */
export async function judgeProxy(
  t: Test,
  name: keyof typeof askingProxies,
  asking: Asking = {},
): Promise<void> {
  const proxy: AskingProxy = askingProxies[name];
  const bench = await startBench(t, name, proxy, asking);
  if (bench === undefined) return;
  await t.test('who gets where', (t) => judgeMatrix(t, bench, proxy));
  await t.test('a revoked key is refused by the next request', (t) => judgeRevocation(t, bench));
  await t.test('nothing that a client says of itself reaches the service', (t) => judgeSpoofs(t, bench));
  await t.test('no target reaches the service that the gateway would have refused', (t) =>
    judgePaths(t, bench, proxy),
  );
  await t.test('names with odd characters reach the service byte for byte', (t) =>
    judgeNames(t, name, proxy),
  );
  await t.test('no header is taken for one of a connection alone', (t) => judgeConnection(t, bench, proxy));
  await t.test('whatever breaks, nothing passes without a decision', (t) => judgeExcess(t, bench));
  await t.test('every scope reaches the service', async (t) => {
    t.equal(await bench.send('GET /api/x HTTP/1.1', [`Authorization: Bearer ${bench.bearer}`]), 200);
    const [scopes = ''] = takeSeen(bench)!.values('x-auth-scopes');
    const held = new Set(scopes.split(' '));
    t.ok(
      manyScopes.every((scope) => held.has(scope)),
      scopes,
    );
  });
  await t.test('cookies', (t) => judgeCookies(t, bench));
  await t.test('an application gets its own Authorization, and nothing of ours', (t) =>
    judgeOwn(t, name, proxy, asking),
  );
  await t.test('the log has the address of the client', (t) => judgeAddress(t, bench));
  await t.test('a body reaches the service, and not Postern', async (t) => {
    const body = 'x'.repeat(100_000);
    const lines = [`X-API-Key: ${bench.key}`, `Content-Length: ${body.length}`];
    t.equal(await bench.send('POST /api/store/x HTTP/1.1', lines, body), 200);
    t.equal(takeSeen(bench)?.body.length, body.length);
  });
  await t.test('a request reaches the service with all that was answered, or not at all', (t) =>
    judgeWhole(t, bench),
  );
  await t.test('a body reaches the service as it comes', (t) => judgeFlow(t, bench));
  if (!proxy.isPartial) await judgeOwnPart(t, name, proxy, bench, asking);
  await t.test('without Postern nothing reaches the service', async (t) => {
    await bench.stop();
    for (const path of ['/api/open/x', '/api/store/x', '/elsewhere']) {
      const status = await bench.send(`GET ${path} HTTP/1.1`, [`X-API-Key: ${bench.key}`]);
      t.ok(status >= 400, `${path}: ${status}`);
    }
    t.equal(bench.upstream.seen.length, 0);
    t.notOk(bench.output().includes(bench.key), 'no line of the proxy’s has the key');
  });
}

/** More than the proxy, or its agent, has room for. */
async function judgeExcess(t: Test, bench: ProxyBench): Promise<void> {
  const lineUp = (count: number) => Array.from({ length: count }, (_, index) => `X-Line-${index}: x`);
  for (const count of isLong ? range(60, 300) : [60, 90, 96, 99, 110, 127, 128, 129, 200, 256, 300])
    for (const path of ['/api/open/x', '/api/store/x'])
      await bench.send(`GET ${path} HTTP/1.1`, [...lineUp(count), `X-Auth-Subject: ${evil}`]).catch(() => 0);
  for (const size of isLong ? range(900, 1100, 25) : [1000])
    for (const fill of range(13_000, 16_500, isLong ? 7 : 50)) {
      const lines = [`X-Long: ${'h'.repeat(size)}`, `X-Auth-Subject: ${evil}`, `P: ${'b'.repeat(fill)}`];
      await bench.send('DELETE /api/store/x HTTP/1.1', lines).catch(() => 0);
      await bench
        .send('DELETE /api/store/x HTTP/1.1', lines.slice(1), '', '127.0.0.1', 'h'.repeat(size))
        .catch(() => 0);
    }
  const seen = bench.upstream.seen.splice(0);
  t.strictSame(
    seen.filter(({ rawHeaders, target }) => rawHeaders.includes(evil) || target.startsWith('/api/store')),
    [],
  );
  t.equal(await bench.send('GET /api/open/x HTTP/1.1'), 200, 'and it still serves');
  bench.upstream.seen.length = 0;
}

function range(from: number, to: number, step = 1): number[] {
  return Array.from({ length: Math.ceil((to - from) / step) }, (_, index) => from + index * step);
}

/** What is not ours stays byte for byte; ours reach no service. */
async function judgeCookies(t: Test, bench: ProxyBench): Promise<void> {
  const send = (...lines: string[]) => bench.send('GET /api/open/x HTTP/1.1', lines);
  t.equal(await send('Cookie: a=\xe9; b=2'), 200);
  t.strictSame(takeSeen(bench)!.values('cookie'), ['a=\xe9; b=2']);
  const [name] = bench.cookie.split('=');
  t.equal(await send(`Cookie: a=\xc3\xa9; ${name}=secret; b=2`), 200);
  t.strictSame(takeSeen(bench)!.values('cookie'), ['a=\xc3\xa9; b=2']);
  t.equal(await send('Cookie: a=1', `Cookie: ${name}=secret`), 200);
  t.equal(takeSeen(bench)!.values('cookie').join('; '), 'a=1');
  t.equal(await send(`Cookie: ${name}=secret`), 200);
  t.equal(takeSeen(bench)!.values('cookie').join(), '');
}

/** What a route passes reaches the service as it came; what is ours reaches no service. */
async function judgeOwn(
  t: Test,
  name: keyof typeof askingProxies,
  proxy: AskingProxy,
  asking: Asking,
): Promise<void> {
  const routes = [
    { prefix: '/api/own', upstream: 'app', authorization: 'pass', public: true },
    { prefix: '/api/open', upstream: 'app', public: true },
    { prefix: '/api', upstream: 'app' },
  ];
  const bench = await startBench(t, name, proxy, { ...asking, config: { ...asking.config, routes } });
  if (bench === undefined) return;
  const { key, bearer, send } = bench;
  const session = `Authorization: Bearer ${bearer}`;
  const aws = 'AWS4-HMAC-SHA256 Credential=a/b, SignedHeaders=host;x, Signature=c';
  const rows: readonly [path: string, lines: readonly string[], authorization: string, apiKey: string][] = [
    ['/api/own', ['Authorization: Token mine', 'X-API-Key: sk-1'], 'Token mine', 'sk-1'],
    ['/api/own', ['Authorization: Basic YTpi'], 'Basic YTpi', ''],
    ['/api/own', [`X-API-Key: ${key}`, 'Authorization: Token mine'], 'Token mine', ''],
    ['/api/own', [session, 'X-API-Key: sk-1'], '', 'sk-1'],
    ['/api/own', [session], '', ''],
    ['/api/own', [], '', ''],
    ['/api/x', [session], '', ''],
    ['/api/x', [`X-API-Key: ${key}`], '', ''],
    ['/api/own', [`Authorization: ${aws}`], aws, ''],
  ];
  for (const [path, lines, authorization, apiKey] of rows) {
    t.equal(await send(`GET ${path} HTTP/1.1`, lines), 200, `${path} ${lines.length}`);
    const seen: SeenRequest = takeSeen(bench)!;
    t.strictSame(
      [seen.values('authorization').join(), seen.values('x-api-key').join()],
      [authorization, apiKey],
    );
  }
  const spelled = [
    `Token ${key}`,
    `Basic ${Buffer.from(`x:${key}`).toString('base64')}`,
    `Bearer a, Bearer ${bearer}`,
  ];
  for (const value of spelled)
    t.equal(await send('GET /api/own HTTP/1.1', [`Authorization: ${value}`]), 401, value.slice(0, 8));
  t.equal(bench.upstream.seen.length, 0);
}

/** What a whole configuration does besides, of which another proxy's is only a part. */
async function judgeOwnPart(
  t: Test,
  name: keyof typeof askingProxies,
  proxy: AskingProxy,
  bench: ProxyBench,
  asking: Asking,
): Promise<void> {
  await t.test('it asks over TLS, and no one but us', (t) => judgeTls(t, name, proxy, asking));
  await t.test('own paths are Postern’s', async (t) => {
    t.equal(await bench.send('GET /.well-known/jwks.json HTTP/1.1'), 200);
    t.equal(await bench.send('GET /api/admin/api-keys/ HTTP/1.1', [`X-API-Key: ${bench.key}`]), 200);
    t.equal(bench.upstream.seen.length, 0);
  });
}

async function judgeMatrix(t: Test, bench: ProxyBench, { statusOf }: AskingProxy): Promise<void> {
  const { api, bearer, key, send } = bench;
  const reader = await api.mintKey(bearer, { label: 'reader', scopes: ['store:read'] });
  const other = await api.mintKey(bearer, { label: 'other', scopes: ['apikeys:read'] });
  const revoked = await api.mintKey(bearer, { label: 'revoked', scopes: ['store:read'] });
  await api.send({ method: 'DELETE', path: `/api/admin/api-keys/${revoked.id}`, bearer });
  const session = `Authorization: Bearer ${bearer}`;
  const credentials: Record<string, readonly string[]> = {
    none: [],
    key: [`X-API-Key: ${key}`],
    session: [session],
    bad: ['X-API-Key: pst_bad'],
    both: [`X-API-Key: ${key}`, session],
    revoked: [`X-API-Key: ${revoked.key}`],
    reader: [`X-API-Key: ${reader.key}`],
    other: [`X-API-Key: ${other.key}`],
  };
  const byCredential = (none: number, reader: number, other: number) => ({
    ...{ none, key: 200, session: 200, bad: 401, both: 400, revoked: 401, reader, other },
  });
  const rows: [requestLine: string, statuses: Record<string, number>][] = [
    ['GET /api/open/x?q=1 HTTP/1.1', byCredential(200, 200, 200)],
    ['GET /api/x HTTP/1.1', byCredential(401, 200, 200)],
    ['GET /api/store/x HTTP/1.1', byCredential(401, 200, 403)],
    ['DELETE /api/store/x HTTP/1.1', byCredential(401, 403, 403)],
    [
      'GET /elsewhere HTTP/1.1',
      { none: 404, key: 404, session: 404, bad: 404, both: 404, revoked: 404, reader: 404, other: 404 },
    ],
  ];
  for (const [requestLine, statuses] of rows)
    for (const [name, lines] of Object.entries(credentials)) {
      const status = await send(requestLine, lines);
      const expected = statuses[name]!;
      t.equal(status, expected === 200 ? 200 : statusOf(expected), `${requestLine} ${name}`);
      const seen = takeSeen(bench);
      if (expected !== 200) {
        t.equal(seen, undefined, `${requestLine} ${name} does not reach the service`);
        continue;
      }
      const [method, target] = requestLine.split(' ');
      t.match(seen, { method, target }, `${requestLine} ${name}`);
      const kind = name === 'none' ? [] : [name === 'session' ? 'session' : 'api_key'];
      t.strictSame(
        seen!.values('x-auth-method').filter((value) => value !== ''),
        kind,
        `${requestLine} ${name}`,
      );
      t.strictSame(
        [...seen!.values('authorization'), ...seen!.values('x-api-key')],
        [],
        'credentials stay here',
      );
      t.equal(seen!.values('x-request-id').length, 1);
    }
}

async function judgeRevocation(t: Test, bench: ProxyBench): Promise<void> {
  const { api, bearer, send } = bench;
  const { id, key } = await api.mintKey(bearer, { label: 'soon', scopes: ['store:read'] });
  const ask = () => send('GET /api/store/x HTTP/1.1', [`X-API-Key: ${key}`]);
  t.equal(await ask(), 200);
  await api.send({ method: 'DELETE', path: `/api/admin/api-keys/${id}`, bearer });
  t.equal(await ask(), 401);
  takeSeen(bench);
}

const identity = [
  'X-Auth-Subject',
  'X-Auth-Username',
  'X-Auth-Method',
  'X-Auth-Scopes',
  'X-Auth-Session-Id',
  'X-Auth-Key-Id',
  'X-Auth-Tenant',
  'X-Auth-Assertion',
  'X-Auth-Role',
  'X-Auth-Client-Id',
  'X-Auth-Issuer',
  'X-Auth-Delegated',
  'X-Auth-Assurance',
];
const misleading = [
  'Script-Name',
  'Path-Info',
  'X-Script-Name',
  'Daphne-Root-Path',
  'X-Original-Method',
  'X-Original-Host',
  'X-Original-URI',
  'X-Original-URL',
  'X-Forwarded-Method',
  'X-Forwarded-Uri',
  'X-Auth-Request-Redirect',
  'X-Forwarded-For',
  'X-Forwarded-Proto',
  'X-Forwarded-Host',
  'X-Forwarded-Port',
  'X-Forwarded-Server',
  'X-Real-IP',
  'X-Rewrite-URL',
  'Remote-User',
  'X-Remote-User',
  'Remote-Addr',
  'Forwarded',
  'Proxy',
  'X-Forwarded-Prefix',
  'X-Forwarded-User',
  'X-HTTP-Method-Override',
  'X-HTTP-Method',
  'X-Method-Override',
];
const evil = 'evil-value';

async function judgeSpoofs(t: Test, bench: ProxyBench): Promise<void> {
  const names = new Set<string>(misleading);
  for (const name of identity)
    for (const spelling of [
      name,
      name.toLowerCase(),
      name.toUpperCase(),
      ...Object.values(spellingsOf(name)),
    ])
      if (isProtected(spelling)) names.add(spelling);
  const leaks: string[] = [];
  let forwarded = 0;
  const all = [...names];
  // At the small size some of them, others of each name.
  for (const name of isLong ? all : all.filter((_, index) => index % 7 === 0))
    for (const caller of [[`X-API-Key: ${bench.key}`], []]) {
      const path = caller.length === 0 ? '/api/open/x' : '/api/store/x';
      await bench.send(`GET ${path} HTTP/1.1`, [...caller, `${name}: ${evil}`]);
      await bench.send(`GET ${path} HTTP/1.1`, [`${name}: ${evil}`, ...caller, `${name}: ${evil}`]);
      for (const seen of bench.upstream.seen.splice(0)) {
        forwarded += 1;
        if (seen.rawHeaders.includes(evil)) leaks.push(`${name}: ${seen.rawHeaders}`);
      }
    }
  t.strictSame(leaks, []);
  t.ok(forwarded > 0, `${forwarded} were forwarded without it`);
}

/** A name in `Connection` asks the next hop to drop the header (RFC 9110 §7.6.1): what was answered must stay. */
async function judgeConnection(t: Test, bench: ProxyBench, { isPartial }: AskingProxy): Promise<void> {
  const asks = ['GET /api/store/x HTTP/1.1', `X-API-Key: ${bench.key}`] as const;
  const listed = [...identity, 'X-Request-Id', 'X-Original-URI', 'X-Forwarded-Uri'].join(', ');
  const upgrade = [
    'Upgrade: websocket',
    'Sec-WebSocket-Version: 13',
    `Sec-WebSocket-Key: ${'A'.repeat(22)}==`,
  ];
  for (const more of [[`Connection: ${listed}`], [`Connection: Upgrade, ${listed}`, ...upgrade]]) {
    const status = await bench.send(asks[0], [asks[1], ...more]);
    const seen = takeSeen(bench);
    t.equal(seen === undefined, status >= 400, more.join(' '));
    // Envoy refuses such a list.
    if (seen === undefined) continue;
    t.strictSame(seen.values('x-auth-method'), ['api_key']);
    t.strictSame(seen.values('x-auth-scopes'), ['apikeys:read store:read store:write']);
    t.equal(seen.values('x-request-id').length, 1);
    t.notMatch(seen.values('connection').join(), /x-/i);
  }
  const others = [
    ['Upgrade: h2c', 'HTTP2-Settings: AAMAAABkAAQAAP__'],
    ['Upgrade: TLS/1.0'],
    ['Upgrade: websocket, h2c'],
    ['Upgrade: websocket', 'Upgrade: h2c'],
    ['Upgrade: h2c', 'Upgrade: websocket'],
  ];
  // The controller of ingress-nginx passes on every upgrade, and no annotation changes that.
  for (const lines of isPartial ? [] : others) {
    const status = await bench.send(asks[0], [asks[1], 'Connection: Upgrade, HTTP2-Settings', ...lines]);
    const seen = takeSeen(bench);
    t.equal(seen === undefined, status >= 400, lines.join(' '));
    t.notMatch(seen?.values('upgrade').join() ?? '', /h2c|tls/i, lines.join(' '));
    t.strictSame(seen?.values('http2-settings') ?? [], []);
  }
  if (!isPartial) {
    await bench.send(asks[0], [asks[1], ...upgrade]);
    t.strictSame(takeSeen(bench)?.values('upgrade') ?? [], [], 'Connection does not ask for it');
  }
  const upgraded = [asks[1], 'Connection: keep-alive,\tupgrade', ...upgrade];
  t.equal(await bench.send(asks[0], upgraded), 200);
  t.strictSame(takeSeen(bench)!.values('upgrade'), ['websocket'], 'an upgrade reaches the service');
}

/** Whatever the client claims: as if it had come through proxies of its own, or through ours. */
async function judgeAddress(t: Test, bench: ProxyBench): Promise<void> {
  const client = '127.0.0.2';
  const claims = ['203.0.113.9', `203.0.113.9, ${client}`, '127.0.0.1', '203.0.113.9, 127.0.0.1', 'x', ''];
  for (const [index, claim] of [undefined, ...claims].entries()) {
    const path = `/api/open/address/${index}`;
    const lines = claim === undefined ? [] : [`X-Forwarded-For: ${claim}`];
    t.equal(await bench.send(`GET ${path} HTTP/1.1`, lines, '', client), 200);
    const decided = bench.logLines().filter((line) => line.path === path && 'forward_auth' in line);
    t.match(decided, [{ address: client }], `claimed: ${claim}`);
  }
  bench.upstream.seen.length = 0;
}

/** With a certificate for the host that is printed, from an authority that is trusted, and with others. */
async function judgeTls(t: Test, name: string, proxy: AskingProxy, asking: Asking): Promise<void> {
  const folder = temporaryFolder(t);
  chmodSync(folder, 0o755);
  const [trusted, other] = [makeAuthority(folder, 'trusted'), makeAuthority(folder, 'other')];
  const ours = ['extendedKeyUsage = serverAuth', 'subjectAltName = DNS:localhost'];
  const anothers = ['extendedKeyUsage = serverAuth', 'subjectAltName = DNS:another.example'];
  const { caFile } = trusted;
  const certificates = {
    good: trusted.issue('good', { extensions: ours }),
    'for another host': trusted.issue('another', { subject: '/CN=another.example', extensions: anothers }),
    'of another authority': other.issue('stranger', { extensions: ours }),
  };
  for (const [kind, certificate] of Object.entries(certificates))
    await t.test(kind, async (t) => {
      const isTrusted = kind === 'good';
      const bench = await startBench(t, name, proxy, { ...asking, tls: { certificate, caFile }, isTrusted });
      if (bench === undefined) return;
      const withKey = await bench.send('GET /api/store/x HTTP/1.1', [`X-API-Key: ${bench.key}`]);
      if (isTrusted) {
        t.equal(withKey, 200);
        t.match(takeSeen(bench), { target: '/api/store/x' });
        t.equal(await bench.send('GET /api/store/x HTTP/1.1'), 401);
      } else {
        t.ok(withKey >= 400, `${withKey}`);
        const refused = await bench.send('GET /api/open/x HTTP/1.1');
        t.ok(refused >= 400, `${refused}`);
      }
      t.equal(bench.upstream.seen.length, 0);
    });
}

/** Each of them has been another one to the service than to Postern, behind some proxy. */
const oddTargets = [
  'foo://app.example/api/open/x',
  'http://app.example/api/open/x',
  '/api/open/\xe9/x',
  '/api/open/x?\xe9',
  '/api/open/x?a;b',
];

async function judgePaths(t: Test, bench: ProxyBench, { speaksHttp2 }: AskingProxy): Promise<void> {
  const { send, upstream } = bench;
  const linesBefore = bench.logLines().length;
  for (const { send: bytes } of readCorpus('paths')) {
    const [requestLine = ''] = (typeof bytes === 'string' ? bytes : bytes.join('')).split('\r\n');
    await send(expand(requestLine, { good: '', host: 'app.example' }));
    await send(expand(requestLine, { good: '', host: 'app.example' }).replace('/api/store', '/api/open'));
  }
  for (const target of oddTargets) await send(`GET ${target} HTTP/1.1`);
  if (speaksHttp2) for (const target of oddTargets) await requestByHttp2(bench.proxyPort, target);
  const seen = upstream.seen.splice(0);
  const sent = new Map(seen.map((each) => [each.values('x-request-id')[0], each.target.split('?', 1)[0]]));
  const allowed = bench
    .logLines()
    .slice(linesBefore)
    .filter((line) => 'forward_auth' in line && line.status === 200);
  t.strictSame(
    allowed.filter((line) => sent.get(line.request_id as string) !== line.path),
    [],
    'what is judged is what the service gets',
  );
  t.equal(sent.size, allowed.length, 'and nothing else');
  const targets = new Set(seen.map(({ target }) => target));
  t.ok(targets.size > 0);
  const refused: string[] = [];
  for (const target of targets) {
    const connection = await connectRaw(bench.port);
    connection.write(`GET ${target} HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n`);
    const { status } = await connection.response();
    if (status !== 200) refused.push(`${status} ${target}`);
    connection.reset();
  }
  t.strictSame(refused, [], 'by the gateway, without a credential');
  upstream.seen.length = 0;
}
