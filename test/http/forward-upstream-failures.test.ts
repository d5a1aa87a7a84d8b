import { createServer, type Socket } from 'node:net';
import t from 'tap';
import { connectRaw, exchangeRaw, type RawResponse } from '../support/clients/raw-client.ts';
import { expected } from '../support/corpora/engine-differences.ts';
import { eventually, startForwarding } from '../support/gateway/forwarding.ts';
import { startBlackHole } from '../support/servers/black-hole.ts';
import { plainResponse, startRawUpstream } from '../support/servers/raw-upstream.ts';

const head = 'HTTP/1.1 200 OK\r\n';

/** A gateway before an upstream that does that to every request, and what a client sees of it. */
async function behind(
  t: Parameters<typeof startForwarding>[0],
  response: (socket: Socket) => void,
  more = {},
) {
  const upstream = await startRawUpstream(t, ({ socket }) => response(socket));
  const gateway = await startForwarding(t, { upstreams: { app: { url: upstream.url, ...more } } });
  const ask = (requestLine = 'GET /api/store/x HTTP/1.1') =>
    exchangeRaw(gateway.port, gateway.raw(requestLine, ['Connection: close']));
  return { upstream, gateway, ask };
}

t.test('a malformed, conflicting or oversized head is 502', async (t) => {
  const rows: Record<string, string> = {
    garbage: 'SSH-2.0-OpenSSH_9.6\r\n\r\n',
    'another version': 'HTTP/2.0 200 OK\r\n\r\n',
    'a status of two digits': 'HTTP/1.1 20 OK\r\n\r\n',
    'a status below 100': 'HTTP/1.1 099 OK\r\n\r\n',
    'no status at all': 'HTTP/1.1 OK\r\n\r\n',
    'a bare LF': `${head}X-A: b\nContent-Length: 0\r\n\r\n`,
    'a bare CR': `${head}X-A: b\rc\r\nContent-Length: 0\r\n\r\n`,
    'a NUL': `${head}X-A: b\0\r\nContent-Length: 0\r\n\r\n`,
    'obs-fold': `${head}X-A: b\r\n c\r\nContent-Length: 0\r\n\r\n`,
    'a blank before a colon': `${head}Content-Length : 0\r\n\r\n`,
    'a line without a colon': `${head}abc\r\nContent-Length: 0\r\n\r\n`,
    'two lengths': `${head}Content-Length: 1\r\nContent-Length: 2\r\n\r\nab`,
    'the same length twice': `${head}Content-Length: 1\r\nContent-Length: 1\r\n\r\na`,
    'a list of lengths': `${head}Content-Length: 1, 1\r\n\r\na`,
    'a length with a sign': `${head}Content-Length: +1\r\n\r\na`,
    'an empty length': `${head}Content-Length:\r\n\r\n`,
    'a length beyond exact numbers': `${head}Content-Length: 99999999999999999\r\n\r\n`,
    'both framings': `${head}Content-Length: 5\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n`,
    'another coding': `${head}Transfer-Encoding: gzip, chunked\r\n\r\n0\r\n\r\n`,
    'two codings': `${head}Transfer-Encoding: chunked\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n`,
    'chunks of HTTP/1.0': 'HTTP/1.0 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n',
    'an unasked 101': 'HTTP/1.1 101 Switching Protocols\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n\r\n',
    'a head over 64 KiB': `${head}X-A: ${'b'.repeat(66_000)}\r\nContent-Length: 0\r\n\r\n`,
    'a head over 64 KiB in many fields': `${head}${'X-A: b\r\n'.repeat(9_000)}\r\n`,
    'interim answers without end': 'HTTP/1.1 103 Early Hints\r\n\r\n'.repeat(1_000),
  };
  let bytes = '';
  const { ask, upstream, gateway } = await behind(t, (socket) => socket.write(bytes, 'latin1'), {
    idle_timeout: '1s',
  });
  for (const [name, sent] of Object.entries(rows))
    await t.test(name, async (t) => {
      const { status, end } = expected(name, { status: 502, end: 'ended' });
      bytes = sent;
      const { responses, closed } = await ask();
      const final = responses.at(-1) as RawResponse;
      t.equal(final.status, status);
      if (status === 502) t.equal(final.json.code, 'upstream_unavailable');
      t.same(final.values('x-a'), []);
      t.equal(closed, end);
    });
  bytes = plainResponse();
  t.equal((await ask()).responses[0]?.status, 200);
  t.equal(upstream.open, 1, 'no connection that misbehaved is kept');
  t.equal(gateway.logLines().filter((line) => line.msg === 'internal error').length, 0);
});

t.test('a head of nearly 64 KiB passes', async (t) => {
  const value = 'b'.repeat(60_000);
  const { ask } = await behind(t, (socket) => socket.write(plainResponse('ok', `X-A: ${value}`)));
  t.same((await ask()).responses[0]?.values('x-a'), [value]);
});

t.test('an upstream that is not there is 502', async (t) => {
  const server = createServer().listen(0, '127.0.0.1');
  await new Promise((resolve) => server.once('listening', resolve));
  const { port } = server.address() as { port: number };
  await new Promise((resolve) => server.close(resolve));
  const gateway = await startForwarding(t, { upstreams: { app: { url: `http://127.0.0.1:${port}` } } });
  for (const method of ['GET', 'POST']) {
    const response = await gateway.api.send({ method, path: '/api/store/x', apiKey: gateway.key, body: 'x' });
    t.match(response, { status: 502, json: { code: 'upstream_unavailable' } }, method);
  }
  const unix = await startForwarding(t, { upstreams: { app: { url: 'unix:/nonexistent/socket' } } });
  t.equal((await unix.api.send({ path: '/api/store/x', apiKey: unix.key })).status, 502);
});

t.test('an upstream that resets before its head is 502', async (t) => {
  const { ask, upstream } = await behind(t, (socket) => socket.resetAndDestroy());
  t.match((await ask()).responses, [{ status: 502 }]);
  t.equal(upstream.accepted, 1, 'a new connection is not tried twice');
  const closing = await behind(t, (socket) => socket.end());
  t.match((await closing.ask()).responses, [{ status: 502 }]);
  const half = await behind(t, (socket) => socket.end('HTTP/1.1 200 OK\r\nContent-'));
  t.match((await half.ask()).responses, [{ status: 502 }]);
});

t.test('a response cut off within its body resets the client', async (t) => {
  const rows: Record<string, (socket: Socket) => void> = {
    'a length that is not reached': (socket) => socket.end(`${head}Content-Length: 10\r\n\r\nhalf`),
    'a length and a reset': (socket) => {
      socket.write(`${head}Content-Length: 10\r\n\r\nhalf`, () => socket.resetAndDestroy());
    },
    'chunks without their end': (socket) =>
      socket.end(`${head}Transfer-Encoding: chunked\r\n\r\n4\r\nhalf\r\n`),
    'a chunk that is cut': (socket) => socket.end(`${head}Transfer-Encoding: chunked\r\n\r\n9\r\nhalf`),
    'a chunk that is malformed': (socket) =>
      socket.write(`${head}Transfer-Encoding: chunked\r\n\r\n4\r\nhalf\r\nxyz\r\n`),
    'trailers that are malformed': (socket) =>
      socket.write(`${head}Transfer-Encoding: chunked\r\n\r\n4\r\nhalf\r\n0\r\nabc\r\n\r\n`),
    'a reset where the end is the close': (socket) => {
      socket.write(`${head}\r\nhalf`, () => setTimeout(() => socket.resetAndDestroy(), 20));
    },
  };
  for (const [name, response] of Object.entries(rows))
    await t.test(name, async (t) => {
      const { gateway } = await behind(t, response);
      for (const version of ['HTTP/1.1', 'HTTP/1.0']) {
        const connection = await connectRaw(gateway.port);
        connection.write(gateway.raw(`GET /api/store/x ${version}`, ['Connection: close']));
        t.equal(await connection.closed, 'reset', version);
        const answered = await connection.response().catch(() => undefined);
        if (version === 'HTTP/1.1') t.not(answered?.isWhole, true);
      }
      const aborted = () => gateway.logLines().filter(({ outcome }) => outcome === 'upstream_aborted');
      await eventually(() => aborted().length === 2);
    });
});

t.test('a late upstream is 504', async (t) => {
  const short = { response_timeout: '200ms', idle_timeout: '200ms', connect_timeout: '200ms' };
  await t.test('with its head', async (t) => {
    const { ask, upstream } = await behind(t, () => {}, short);
    t.match((await ask()).responses, [{ status: 504, json: { code: 'upstream_timeout' } }]);
    t.equal(upstream.open, 0);
  });
  await t.test('with the rest of its head', async (t) => {
    const { ask } = await behind(t, (socket) => socket.write('HTTP/1.1 200 OK\r\nX-A: '), short);
    t.match((await ask()).responses, [{ status: 504 }]);
  });
  await t.test('with its connection', async (t) => {
    const url = await startBlackHole(t);
    const gateway = await startForwarding(t, { upstreams: { app: { url, ...short } } });
    const response = await gateway.api.send({ path: '/api/store/x', apiKey: gateway.key });
    t.match(response, { status: 504, json: { code: 'upstream_timeout' } });
  });
  await t.test('with its handshake', async (t) => {
    const silent = await startRawUpstream(t, () => {});
    const url = silent.url.replace('http:', 'https:');
    const gateway = await startForwarding(t, { upstreams: { app: { url, ...short } } });
    t.equal((await gateway.api.send({ path: '/api/store/x', apiKey: gateway.key })).status, 504);
  });
  await t.test('with taking the body', async (t) => {
    const { gateway } = await behind(t, (socket) => socket.pause(), short);
    const size = 32 * 1024 * 1024;
    const connection = await connectRaw(gateway.port);
    connection.write(gateway.raw('PUT /api/store/x HTTP/1.1', [`Content-Length: ${size}`]));
    connection.write(Buffer.alloc(size));
    t.equal((await connection.response()).status, 504);
    connection.reset();
  });
  await t.test('but not while the client is late with the body', async (t) => {
    const { gateway } = await behind(t, (socket) => socket.write(''), short);
    const connection = await connectRaw(gateway.port);
    connection.write(gateway.raw('PUT /api/store/x HTTP/1.1', ['Content-Length: 3'], 'a'));
    const first = await Promise.race([
      connection.response(),
      new Promise((resolve) => setTimeout(resolve, 500, 'nothing yet')),
    ]);
    t.equal(first, 'nothing yet');
    connection.reset();
  });
  await t.test('in mid-body it resets the client', async (t) => {
    const { ask } = await behind(t, (socket) => socket.write(`${head}Content-Length: 9\r\n\r\nhalf`), short);
    t.equal((await ask()).closed, 'reset');
  });
});
