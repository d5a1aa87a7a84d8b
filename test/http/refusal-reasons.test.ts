import { randomBytes } from 'node:crypto';
import { readFileSync } from 'node:fs';
import type { AddressInfo, Socket } from 'node:net';
import { join } from 'node:path';
import { createServer as createTlsServer } from 'node:tls';
import t from 'tap';
import { mintApiKey } from '../../src/credentials/api-key.ts';
import { engineReasons } from '../../src/http/refusal-reason.ts';
import { type Reason, reasons } from '../../src/reasons.ts';
import { exchangeRaw } from '../support/clients/raw-client.ts';
import { eventually } from '../support/eventually.ts';
import { startForwarding } from '../support/gateway/forwarding.ts';
import { makeCertificate } from '../support/servers/certificates.ts';
import { startRawUpstream } from '../support/servers/raw-upstream.ts';

type Line = Record<string, unknown>;

/** Sends the bytes and gives the refusal's id, with the one log line that has it. */
async function lineOf(gateway: Awaited<ReturnType<typeof startForwarding>>, bytes: string): Promise<Line> {
  const { responses } = await exchangeRaw(gateway.port, bytes);
  const [id] = responses[0]!.values('x-request-id');
  return eventually(`a line of ${id}`, () => gateway.logLines().find((line) => line.request_id === id));
}

t.test('a request that is refused says why in its line', async (t) => {
  const gateway = await startForwarding(t, {
    limits: { header_count: 20, target_bytes: 300 },
    routes: [
      { prefix: '/api/store', upstream: 'app', scopes: { read: ['store:read'], write: ['store:write'] } },
      { prefix: '/api/files', upstream: 'app', paths: { encoded_percent: 'pass' } },
      { prefix: '/api', upstream: 'app' },
    ],
  });
  const close = ['Connection: close'];
  const path = (text: string) => gateway.raw(`GET /api/store/${text} HTTP/1.1`, close);
  const withLines = (...lines: string[]) => gateway.raw('GET /api/store/x HTTP/1.1', [...close, ...lines]);
  const plain = (...lines: string[]) =>
    ['GET /api/store/x HTTP/1.1', 'Host: a', ...close, ...lines, '', ''].join('\r\n');
  const rows: [reason: Reason, bytes: string][] = [
    ['not an HTTP request', '\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03'],
    ['unknown method', gateway.raw('FETCH / HTTP/1.1')],
    ['HTTP version', gateway.raw('GET / HTTP/3.7')],
    ['request line', gateway.raw('GET  / HTTP/1.1')],
    ['header line', withLines('no colon here')],
    ['header name', withLines('X Y: z')],
    ['header name', withLines('Mcp-Param-a_b: 1', 'Mcp-Param-a-b: 1')],
    ['forbidden byte in the head', withLines('X: \0')],
    ['head too large', withLines(`X: ${'y'.repeat(20_000)}`)],
    ['too many headers', withLines(...Array.from({ length: 30 }, (_, index) => `X-${index}: y`))],
    ['target too long', path('y'.repeat(300))],
    ['host header', withLines('Host: another')],
    ['connection header', withLines('Connection: authorization')],
    ['body length is ambiguous', withLines('Content-Length: 1', 'Content-Length: 2')],
    ['expect header', withLines('Expect: the unexpected')],
    ['target is not a path', gateway.raw('GET http://a/b HTTP/1.1', close)],
    ['target holds a forbidden byte', path('a#b')],
    ['target holds a forbidden byte', path('a?b#c')],
    ['path holds //', path('a//b')],
    ['path holds a dot segment', path('../b')],
    ['path holds ;', path('a;b')],
    ['path holds \\', path('a\\b')],
    ['path holds %2f', path('a%2Fb')],
    ['path holds %5c', path('a%5cb')],
    ['path holds %3b', path('a%3bb')],
    ['path holds %23', path('file%23.txt')],
    ['path holds %3f', path('a%3fb')],
    ['path holds an encoded letter, digit or mark', path('%7Euser')],
    ['path holds an encoded control character', path('a%00')],
    ['path holds a malformed escape', path('a%2')],
    ['path holds escapes that are not UTF-8', path('%C3x')],
    ['path is encoded twice', path('%252e')],
    ['path has too many readings', gateway.raw('GET /api/files/%2525252520 HTTP/1.1', close)],
    ['path holds a dot segment', gateway.raw('GET /api/files/%252e HTTP/1.1', close)],
    ['method not served', gateway.raw('TRACE /api/store/x HTTP/1.1', close)],
    ['no route', gateway.raw('GET /elsewhere HTTP/1.1', close)],
    ['path is ambiguous between routes', gateway.raw('GET /api/STORE/x HTTP/1.1', close)],
    ['not found', gateway.raw('GET /api/login/nowhere/at-all HTTP/1.1', close)],
    ['no credential', plain()],
    ['two credentials', withLines('Authorization: Bearer x')],
    ['not a bearer token', plain('Authorization: Basic YTpi')],
    ['access token signed by an unknown key', plain('Authorization: Bearer e30.e30.e30')],
    ['api key as a bearer token', plain(`Authorization: Bearer ${mintApiKey('pst', randomBytes).raw}`)],
    [
      'access token signature',
      plain(`Authorization: Bearer ${gateway.bearer.replace(/\.[^.]*$/, `.${'A'.repeat(86)}`)}`),
    ],
    ['api key malformed', plain('X-API-Key: pst_nothing')],
    [
      'another name than base_url',
      'POST /api/login/access-token HTTP/1.1\r\nHost: a\r\nConnection: close\r\nOrigin: http://a\r\nContent-Length: 0\r\n\r\n',
    ],
    [
      'foreign page',
      'POST /api/login/access-token HTTP/1.1\r\nHost: a\r\nConnection: close\r\nOrigin: https://evil.example\r\nContent-Length: 0\r\n\r\n',
    ],
    [
      'field problems',
      'POST /api/login/access-token HTTP/1.1\r\nHost: a\r\nConnection: close\r\nContent-Length: 0\r\n\r\n',
    ],
    ['session required', gateway.raw('GET /api/logout HTTP/1.1', close)],
    [
      'refresh cookie',
      'POST /api/login/refresh-token HTTP/1.1\r\nHost: a\r\nConnection: close\r\nContent-Length: 0\r\n\r\n',
    ],
    ['body is malformed', withLines('Transfer-Encoding: chunked').replace('GET', 'POST') + 'xyz\r\n'],
  ];
  for (const [reason, bytes] of rows)
    await t.test(`${reason} (${JSON.stringify(bytes.slice(0, 40))})`, async (t) => {
      const line = await lineOf(gateway, bytes);
      t.equal(line.reason, reason);
      t.notMatch(JSON.stringify(line), /YTpi|nothing|file%23/);
    });
  await gateway.api.send({ path: '/api/store/fine', apiKey: gateway.key });
  const fine = await eventually('its line', () =>
    gateway.logLines().find((line) => line.path === '/api/store/fine'),
  );
  t.notOk('reason' in fine, 'nothing was refused');
});

t.test('a credential that has ended says how', async (t) => {
  const gateway = await startForwarding(t);
  const { api, bearer, key, keyId } = gateway;
  const expiring = await api.mintKey(bearer, {
    label: 'short',
    scopes: ['store:read'],
    expires: new Date(Date.now() + 60_000).toISOString(),
  });
  const reasonOf = async (credential: object) => {
    const { status, json } = await api.send({ path: '/api/store/x', ...credential });
    t.equal(status, 401);
    return (
      await eventually('its line', () =>
        gateway.logLines().find((line) => line.request_id === json.request_id),
      )
    ).reason;
  };
  await api.send({ method: 'DELETE', path: `/api/admin/api-keys/${keyId}`, bearer });
  t.equal(await reasonOf({ apiKey: key }), 'api key unknown');
  gateway.advance(61_000);
  t.equal(await reasonOf({ apiKey: expiring.key }), 'api key expired');
  gateway.advance(3_600_000);
  t.equal(await reasonOf({ bearer }), 'access token expired');
  const again = await api.signIn('ada', 'correct horse battery staple');
  gateway.advance(-3_600_000);
  t.equal(await reasonOf({ bearer: again.accessToken }), 'access token issued in the future');
  gateway.advance(3_600_000);
  await api.send({ path: '/api/logout', bearer: again.accessToken });
  t.equal(await reasonOf({ bearer: again.accessToken }), 'session ended');
});

t.test('an upstream that fails is named, with address, error and phase', async (t) => {
  const folder = t.testdir();
  const { cert, key } = makeCertificate(folder, 'upstream', ['IP:127.0.0.1']);
  const tls = createTlsServer({ cert, key }, (socket) => socket.end());
  tls.on('tlsClientError', () => {});
  await new Promise<void>((resolve) => tls.listen(0, '127.0.0.1', resolve));
  t.teardown(() => tls.close());
  const behaviours: Record<string, (socket: Socket) => void> = {
    silent: () => {},
    closing: (socket) => socket.destroy(),
    garbled: (socket) => socket.end('SSH-2.0\r\n\r\n'),
    stalling: (socket) => socket.write('HTTP/1.1 200 OK\r\nContent-Length: 9\r\n\r\nhalf'),
    cutting: (socket) => socket.end('HTTP/1.1 200 OK\r\nContent-Length: 9\r\n\r\nhalf'),
  };
  const timeouts: Readonly<Record<string, object>> = {
    silent: { response_timeout: '300ms' },
    stalling: { idle_timeout: '300ms' },
  };
  const started = await Promise.all(
    Object.entries(behaviours).map(
      async ([name, behave]) => [name, await startRawUpstream(t, ({ socket }) => behave(socket))] as const,
    ),
  );
  const upstreams = {
    gone: { url: 'http://127.0.0.1:1' },
    nameless: { url: 'http://nowhere.invalid:9000' },
    socketless: { url: 'unix:/nowhere/at-all.sock' },
    untrusted: { url: `https://127.0.0.1:${(tls.address() as AddressInfo).port}` },
    ...Object.fromEntries(started.map(([name, { url }]) => [name, { url, ...timeouts[name] }])),
  };
  const routes = Object.keys(upstreams).map((name) => ({
    prefix: `/api/${name}`,
    upstream: name,
    public: true,
  }));
  const gateway = await startForwarding(t, {
    upstreams: { ...upstreams, app: { url: 'builtin:echo' } },
    routes: [...routes, { prefix: '/api/store', upstream: 'app' }],
  });
  const rows: [name: string, status: number, expected: Line][] = [
    [
      'gone',
      502,
      {
        reason: 'connect refused',
        errno: 'ECONNREFUSED',
        phase: 'connect',
        upstream_address: '127.0.0.1:1',
      },
    ],
    [
      'nameless',
      502,
      {
        reason: 'name not resolved',
        errno: 'ENOTFOUND',
        phase: 'lookup',
        upstream_address: 'nowhere.invalid:9000',
      },
    ],
    [
      'socketless',
      502,
      {
        reason: 'connect failed',
        errno: 'ENOENT',
        phase: 'connect',
        upstream_address: '/nowhere/at-all.sock',
      },
    ],
    ['untrusted', 502, { reason: 'tls failed', phase: 'tls' }],
    ['silent', 504, { reason: 'response timed out', phase: 'response_head' }],
    ['closing', 502, { reason: 'connection closed early', phase: 'response_head' }],
    ['garbled', 502, { reason: 'response malformed', phase: 'response_head' }],
    ['stalling', 200, { reason: 'response stalled', phase: 'response_body' }],
    ['cutting', 200, { reason: 'response cut off', phase: 'response_body' }],
  ];
  for (const [name, status, expected] of rows)
    await t.test(name, async (t) => {
      await exchangeRaw(gateway.port, `GET /api/${name} HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n`);
      const line = await eventually('its line', () =>
        gateway.logLines().find(({ path }) => path === `/api/${name}`),
      );
      t.match(line, { status, upstream: name, upstream_address: String, ...expected });
    });
});

t.test('the table of docs/troubleshooting.md has each reason once, with a cure', async (t) => {
  const page = readFileSync(join(import.meta.dirname, '../../docs/troubleshooting.md'), 'utf8');
  const rows = [...page.matchAll(/^\| `([^`]+)` \| (.+) \| (.+) \|$/gm)].map(([, ...cells]) => cells);
  t.strictSame(rows.map(([reason]) => reason).sort(), [...reasons].sort());
  for (const [reason, , cure] of rows) t.ok(cure!.length > 5, `${reason}: ${cure}`);
});

t.test('whatever the engine calls malformed in a request has its reason', async (t) => {
  const requestFiles = ['message-head.ts', 'chunked-decoder.ts'];
  const words = requestFiles.flatMap((file) => {
    const text = readFileSync(join(import.meta.dirname, '../../src/http1/message', file), 'utf8');
    return [...text.matchAll(/new MalformedMessage\('([^']+)'/g)].map(([, word]) => word!);
  });
  // Of responses alone.
  const known = new Set([...Object.keys(engineReasons), 'status line']);
  t.ok(words.length > 8);
  t.strictSame(
    words.filter((word) => !known.has(word)),
    [],
  );
});
