import t from 'tap';
import { exchangeRaw, type RawResponse } from '../support/clients/raw-client.ts';
import { expected } from '../support/corpora/engine-differences.ts';
import { startForwarding } from '../support/gateway/forwarding.ts';
import { startRawUpstream } from '../support/servers/raw-upstream.ts';

/** A gateway whose upstream answers everything with those bytes; gives the responses a client sees. */
async function answering(t: Tap, config: object = {}) {
  const state = { bytes: '' };
  const upstream = await startRawUpstream(t, ({ socket }) => socket.write(state.bytes, 'latin1'));
  const gateway = await startForwarding(t, { upstreams: { app: { url: upstream.url } }, ...config });
  const ask = async (bytes: string, requestLine = 'GET /api/store/x HTTP/1.1', lines: string[] = []) => {
    state.bytes = bytes;
    const sent = gateway.raw(requestLine, ['Connection: close', ...lines]);
    return (await exchangeRaw(gateway.port, sent)).responses;
  };
  return { gateway, ask };
}
type Tap = Parameters<typeof startForwarding>[0];

const final = (responses: readonly RawResponse[]) => responses.at(-1)!;

t.test('any status passes', async (t) => {
  const { ask } = await answering(t);
  for (const status of [
    200, 201, 202, 203, 206, 207, 299, 300, 302, 400, 401, 403, 404, 418, 429, 500, 503, 599,
  ])
    t.equal(final(await ask(`HTTP/1.1 ${status} Odd Reason\r\nContent-Length: 0\r\n\r\n`)).status, status);
});

t.test('an upstream’s 401 and its challenge are its own', async (t) => {
  const { ask } = await answering(t);
  const response = final(
    await ask('HTTP/1.1 401 No\r\nWWW-Authenticate: Basic realm="up"\r\nContent-Length: 1\r\n\r\nx'),
  );
  t.same(response.values('www-authenticate'), ['Basic realm="up"']);
  t.equal(response.text, 'x');
});

t.test('answers without a body have none', async (t) => {
  const { ask } = await answering(t);
  const noContent = final(await ask('HTTP/1.1 204 No Content\r\nContent-Length: 0\r\nETag: "a"\r\n\r\n'));
  t.equal(noContent.status, 204);
  t.same(noContent.values('etag'), ['"a"']);
  t.same(noContent.values('content-length'), [], 'RFC 9110 §8.6');
  t.same(noContent.values('transfer-encoding'), []);
  const notModified = final(await ask('HTTP/1.1 304 Not Modified\r\nContent-Length: 7\r\nETag: "a"\r\n\r\n'));
  t.equal(notModified.status, 304);
  t.same(notModified.values('content-length'), ['7']);
  const head = final(await ask('HTTP/1.1 200 OK\r\nContent-Length: 7\r\n\r\n', 'HEAD /api/store/x HTTP/1.1'));
  t.same(head.values('content-length'), ['7']);
  const chunkedHead = await ask(
    'HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n',
    'HEAD /api/store/x HTTP/1.1',
  );
  t.equal(final(chunkedHead).status, 200);
});

t.test('bodies pass in every framing', async (t) => {
  const { ask } = await answering(t);
  const rows: Record<string, string> = {
    'a length': 'HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\nhello',
    chunks: 'HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n2;x=y\r\nhe\r\n3\r\nllo\r\n0\r\n\r\n',
    'chunks in capitals': 'HTTP/1.1 200 OK\r\nTransfer-Encoding: CHUNKED\r\n\r\n5\r\nhello\r\n0\r\n\r\n',
    'chunks with trailers':
      'HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n5\r\nhello\r\n0\r\nX-T: a\r\n\r\n',
  };
  for (const [name, bytes] of Object.entries(rows)) {
    const response = final(await ask(bytes));
    t.equal(response.text, 'hello', name);
    t.ok(response.isWhole);
    t.equal(response.values('content-length').length + response.values('transfer-encoding').length, 1);
  }
});

t.test('a body that ends with its connection is whole to the client', async (t) => {
  const upstream = await startRawUpstream(t, ({ socket }) =>
    socket.end('HTTP/1.0 200 OK\r\nContent-Type: text/plain\r\n\r\nhello'),
  );
  const gateway = await startForwarding(t, { upstreams: { app: { url: upstream.url } } });
  const { responses, closed } = await exchangeRaw(
    gateway.port,
    gateway.raw('GET /api/store/x HTTP/1.1', ['Connection: close']),
  );
  t.equal(responses[0]?.text, 'hello');
  t.ok(responses[0]?.isWhole);
  t.equal(closed, 'ended');
  const old = await exchangeRaw(gateway.port, gateway.raw('GET /api/store/x HTTP/1.0'));
  t.equal(old.responses[0]?.text, 'hello');
  t.same(old.responses[0]?.values('transfer-encoding'), [], 'HTTP/1.0 knows no chunks');
  t.same(old.responses[0]?.values('connection'), ['close']);
});

t.test('interim responses go before the final one or are ignored', async (t) => {
  const { ask } = await answering(t);
  const last = 'HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok';
  const hints = await ask(`HTTP/1.1 103 Early Hints\r\nLink: </a>\r\nSet-Cookie: a=1\r\n\r\n${last}`);
  t.same(
    hints.map((response) => response.status),
    [103, 200],
  );
  t.same(hints[0]?.values('link'), ['</a>']);
  t.same(hints[0]?.values('set-cookie'), []);
  const unasked = 'a 100 of the upstream’s is ignored';
  await t.test(unasked, async (t) => {
    const { status } = expected(unasked, { status: 200 });
    const responses = await ask(`HTTP/1.1 100 Continue\r\n\r\n${last}`);
    t.same(
      responses.map((response) => response.status),
      [status],
      '100 is Postern’s own to say',
    );
    if (status === 200) t.equal(final(responses).text, 'ok');
  });
  const processing = await ask(`HTTP/1.1 102 Processing\r\n\r\nHTTP/1.1 102 Processing\r\n\r\n${last}`);
  t.same(
    processing.map((response) => response.status),
    [102, 102, 200],
  );
  const old = await ask(`HTTP/1.1 103 Early Hints\r\n\r\n${last}`, 'GET /api/store/x HTTP/1.0');
  t.same(
    old.map((response) => response.status),
    [200],
    'HTTP/1.0 knows none',
  );
});

t.test('hop-by-hop headers and Postern’s own are removed', async (t) => {
  const { ask } = await answering(t);
  const fields = [
    'Connection: X-Hop, close',
    'X-Hop: evil',
    'Keep-Alive: timeout=5',
    'Proxy-Authenticate: evil',
    'Proxy-Connection: evil',
    'TE: evil',
    'Trailer: evil',
    'Upgrade: evil',
    'X-Request-Id: evil',
    ...['a=1', 'b=2; Path=/', 'c=3', 'd=4', 'e=5; HttpOnly'].map((cookie) => `Set-Cookie: ${cookie}`),
    'Set-Cookie: service_refresh_cookie=evil; Path=/api',
    'set-cookie: service_refresh_cookie_login_abc-_9=evil',
    'Set-Cookie: =service_refresh_cookie_login_abcdef=evil; Path=/api/login',
    'Set-Cookie: =service_refresh_cookie=evil',
    'X-Odd: \xff',
    'Content-Length: 0',
  ];
  const response = final(await ask(`HTTP/1.1 200 OK\r\n${fields.join('\r\n')}\r\n\r\n`));
  t.notOk(response.rawHeaders.some((value) => value.includes('evil')));
  t.same(response.values('set-cookie'), ['a=1', 'b=2; Path=/', 'c=3', 'd=4', 'e=5; HttpOnly']);
  t.same(response.values('x-odd'), ['\xff']);
  t.equal(response.values('date').length, 1);
});

t.test('caching of what was asked for with a credential', async (t) => {
  const { gateway, ask } = await answering(t);
  const cachingOf = async (field: string, line?: string) =>
    final(await ask(`HTTP/1.1 200 OK\r\n${field}Content-Length: 0\r\n\r\n`, line)).values('cache-control');
  t.same(await cachingOf(''), ['private']);
  t.same(await cachingOf('Cache-Control: public, s-maxage=9, max-age=60\r\n'), ['private, max-age=60']);
  t.same(await cachingOf('cache-control: no-store\r\n'), ['no-store']);
  t.same(await cachingOf('', 'GET /api/open/x HTTP/1.1'), ['private'], 'on a public route too');
  const shared = 'HTTP/1.1 200 OK\r\nCache-Control: public, max-age=60\r\nContent-Length: 0\r\n\r\n';
  const publicly = final(await ask(shared, 'GET /api/open/x HTTP/1.1')).values('cache-control');
  t.same(publicly, ['private, max-age=60']);
  const byToken = await exchangeRaw(
    gateway.port,
    `GET /api/store/x HTTP/1.1\r\nHost: a\r\nAuthorization: Bearer ${gateway.bearer}\r\nConnection: close\r\n\r\n`,
  );
  t.same(byToken.responses[0]?.values('cache-control'), ['public, max-age=60'], 'caches know Authorization');
  await ask('HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n');
  const nobody = await exchangeRaw(
    gateway.port,
    'GET /api/open/x HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n',
  );
  t.same(nobody.responses[0]?.values('cache-control'), [], 'without one it is the upstream’s alone to say');
});
