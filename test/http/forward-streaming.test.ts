import { type IncomingMessage, request } from 'node:http';
import t from 'tap';
import { connectRaw } from '../support/clients/raw-client.ts';
import { startForwarding } from '../support/gateway/forwarding.ts';
import { digestOf, generateData } from '../support/generated-data.ts';
import { startHttpUpstream } from '../support/servers/http-upstream.ts';

const bytes = 64 * 1024 * 1024;
/** What sockets and streams on the way may hold at the most. */
const onTheWay = 24 * 1024 * 1024;

t.test('64 MiB are downloaded unchanged, no faster than the client reads', async (t) => {
  for (const framing of ['length', 'chunked'] as const)
    await t.test(`with ${framing} framing`, async (t) => {
      const data = generateData(bytes);
      const upstream = await startHttpUpstream(t, (_request, response) => {
        if (framing === 'length') response.setHeader('Content-Length', bytes);
        data.stream.pipe(response);
      });
      const { port, key } = await startForwarding(t, { upstreams: { app: { url: upstream.url } } });
      const response = await new Promise<IncomingMessage>((resolve, reject) => {
        request({ port, path: '/api/store/x', headers: { 'x-api-key': key }, agent: false }, resolve)
          .on('error', reject)
          .end();
      });
      await new Promise((resolve) => setTimeout(resolve, 300));
      const before = data.taken();
      t.ok(before < onTheWay, `${before} bytes were read for a client that reads nothing`);
      const got = await digestOf(response);
      t.equal(got.bytes, bytes);
      t.equal(got.digest, data.digest());
    });
});

t.test('64 MiB are uploaded unchanged, no faster than the upstream reads', async (t) => {
  for (const framing of ['length', 'chunked'] as const)
    await t.test(`with ${framing} framing`, async (t) => {
      let release = () => {};
      const released = new Promise<void>((resolve) => {
        release = resolve;
      });
      const upstream = await startHttpUpstream(t, async (incoming, response) => {
        await released;
        const { digest, bytes: length } = await digestOf(incoming);
        response.end(`${digest} ${length} ${incoming.headers['content-length'] ?? 'chunked'}`);
      });
      const { port, key } = await startForwarding(t, { upstreams: { app: { url: upstream.url } } });
      const data = generateData(bytes);
      const answered = new Promise<IncomingMessage>((resolve, reject) => {
        const headers = { 'x-api-key': key, ...(framing === 'length' ? { 'content-length': bytes } : {}) };
        const sent = request({ port, method: 'PUT', path: '/api/store/x', headers, agent: false }, resolve);
        data.stream.pipe(sent.on('error', reject));
      });
      await new Promise((resolve) => setTimeout(resolve, 300));
      t.ok(data.taken() < onTheWay, `${data.taken()} bytes were read for an upstream that reads nothing`);
      release();
      const chunks: Buffer[] = [];
      for await (const chunk of await answered) chunks.push(chunk);
      const wanted = `${data.digest()} ${bytes} ${framing === 'length' ? bytes : 'chunked'}`;
      t.equal(Buffer.concat(chunks).toString(), wanted);
    });
});

t.test('events arrive one by one', async (t) => {
  let send = (_text: string) => {};
  const upstream = await startHttpUpstream(t, (_request, response) => {
    response.writeHead(200, { 'Content-Type': 'text/event-stream' });
    response.flushHeaders();
    send = (text) => void response.write(`data: ${text}\n\n`);
  });
  const { port, raw } = await startForwarding(t, { upstreams: { app: { url: upstream.url } } });
  const connection = await connectRaw(port);
  connection.write(raw('GET /api/store/events HTTP/1.1'));
  await connection.received('text/event-stream\r\n');
  await connection.received('\r\n\r\n');
  t.pass('the head did not wait for an event');
  for (const event of ['one', 'two', 'three']) {
    send(event);
    await connection.received(`data: ${event}\n\n`);
  }
  connection.reset();
});

t.test('both directions stream at once', async (t) => {
  const upstream = await startHttpUpstream(t, (incoming, response) => {
    response.writeHead(200);
    response.flushHeaders();
    incoming.on('data', (chunk: Buffer) => response.write(`<${chunk}>`));
    incoming.on('end', () => response.end('.'));
  });
  const { port, raw } = await startForwarding(t, { upstreams: { app: { url: upstream.url } } });
  const connection = await connectRaw(port);
  connection.write(raw('POST /api/store/x HTTP/1.1', ['Transfer-Encoding: chunked']));
  for (const word of ['one', 'two', 'three']) {
    connection.write(`${word.length.toString(16)}\r\n${word}\r\n`);
    await connection.received(`<${word}>`);
  }
  connection.write('0\r\n\r\n');
  const response = await connection.response();
  t.equal(response.text, '<one><two><three>.');
  connection.write(raw('GET /api/store/x HTTP/1.1'));
  t.equal((await connection.response()).text, '.', 'the connection stays open');
  connection.reset();
});

t.test('a chunked body in pieces of a byte is the same body', async (t) => {
  const gateway = await startForwarding(t);
  const connection = await connectRaw(gateway.port);
  const body = '3;a="b"\r\nabc\r\nA\r\n0123456789\r\n0\r\nX-T: x\r\nX-U: y\r\n\r\n';
  const next = gateway.raw('GET /api/store/next HTTP/1.1');
  for (const byte of gateway.raw('POST /api/store/x HTTP/1.1', ['Transfer-Encoding: chunked'], body) + next) {
    connection.write(byte);
    await new Promise((resolve) => setImmediate(resolve));
  }
  t.equal((await connection.response()).status, 200);
  t.equal((await connection.response()).status, 200);
  connection.reset();
  t.equal(gateway.upstream.seen[0]!.body.toString(), 'abc0123456789');
  t.equal(gateway.upstream.seen[1]!.target, '/api/store/next');
});

t.test('after a slow reader the upstream’s connection serves the next', async (t) => {
  const piece = Buffer.alloc(9_000, 'x');
  const pieces = 1_000;
  const upstream = await startHttpUpstream(t, (incoming, response) => {
    for (let i = 0; i < (incoming.url === '/api/store/long' ? pieces : 1); i++) response.write(piece);
    response.end();
  });
  const settings = { url: upstream.url, max_connections: 1, response_timeout: '2s' };
  const { port, key } = await startForwarding(t, { upstreams: { app: settings } });
  const get = (path: string) =>
    new Promise<IncomingMessage>((resolve, reject) => {
      request({ port, path, headers: { 'x-api-key': key }, agent: false }, resolve)
        .on('error', reject)
        .end();
    });
  for (let round = 0; round < 8; round++) {
    const slow = await get('/api/store/long');
    await new Promise((resolve) => setTimeout(resolve, 20 + 5 * round));
    t.equal((await digestOf(slow)).bytes, pieces * piece.length);
    const next = await get('/api/store/short');
    t.equal(next.statusCode, 200);
    t.equal((await digestOf(next)).bytes, piece.length);
  }
});
