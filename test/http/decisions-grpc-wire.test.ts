import { randomBytes } from 'node:crypto';
import { once } from 'node:events';
import {
  type ClientHttp2Session,
  connect as connectHttp2,
  constants,
  performServerHandshake,
} from 'node:http2';
import { connect } from 'node:net';
import { PassThrough } from 'node:stream';
import { setImmediate as nextTurn } from 'node:timers/promises';
import { queryObjects } from 'node:v8';
import t, { type Test } from 'tap';
import { checkPath, createCheckCodec } from '../../src/forward-auth/check-protocol.ts';
import { startDeciding } from '../support/clients/decisions.ts';

const { encodeRequest, decodeResponse } = createCheckCodec();
const routes = [{ prefix: '/api/open', upstream: 'none', public: true }];
const http = { method: 'GET', path: '/api/open', host: 'app.example', headers: {} };
const question = Buffer.from(encodeRequest({ attributes: { request: { http } } }));
const call = { ':method': 'POST', ':path': checkPath, 'content-type': 'application/grpc', te: 'trailers' };
const prefixBytes = 5;

/** A message as gRPC sends it. */
function framed(message: Buffer, compressed = 0): Buffer {
  const prefix = Buffer.alloc(prefixBytes);
  prefix[0] = compressed;
  prefix.writeUInt32BE(message.length, 1);
  return Buffer.concat([prefix, message]);
}

async function connectTo(t: Test, port: number): Promise<ClientHttp2Session> {
  const session = connectHttp2(`http://127.0.0.1:${port}`);
  t.teardown(() => session.destroy());
  await once(session, 'connect');
  return session;
}

interface Response {
  readonly status: number;
  readonly grpcStatus: string | undefined;
  readonly bytes: Buffer;
}

/** Sends the pieces each by itself; rejects if the stream is reset. */
async function exchange(
  session: ClientHttp2Session,
  headers: object,
  pieces: Iterable<Buffer> | AsyncIterable<Buffer> = [],
) {
  const stream = session.request({ ...headers });
  const response: Promise<Response> = new Promise((resolve, reject) => {
    let [status, grpcStatus] = [0, undefined as string | undefined];
    const chunks: Buffer[] = [];
    stream.on('response', (received) => {
      status = received[':status'] ?? 0;
      grpcStatus = received['grpc-status'] as string | undefined;
    });
    stream.on('trailers', (received) => {
      grpcStatus = received['grpc-status'] as string | undefined;
    });
    stream.on('data', (chunk: Buffer) => chunks.push(chunk));
    stream.on('error', reject);
    stream.on('close', () => resolve({ status, grpcStatus, bytes: Buffer.concat(chunks) }));
  });
  for await (const piece of pieces) {
    stream.write(piece);
    await nextTurn();
  }
  stream.end();
  return response;
}

/** The status that Envoy is told to answer with; 200 where the request is allowed. */
function decided({ bytes }: Response): number | undefined {
  if (bytes.readUInt32BE(1) !== bytes.length - prefixBytes) throw new Error('not one message');
  const { status, denied_response: denied } = decodeResponse(bytes.subarray(prefixBytes));
  return status.code === 0 ? 200 : denied?.status.code;
}

t.test('calls that are questions, and calls that are not', async (t) => {
  const { portOf } = await startDeciding(t, { routes });
  const session = await connectTo(t, portOf('envoy_grpc'));
  const whole = framed(question);
  const megabytes = Buffer.alloc(4 * 1024 * 1024);

  const messages: [name: string, pieces: Buffer[], decision: number][] = [
    ['in one piece', [whole], 200],
    ['byte by byte', [...whole].map((byte) => Buffer.from([byte])), 200],
    ['nothing', [], 400],
    ['half a prefix', [whole.subarray(0, 3)], 400],
    ['half a message', [whole.subarray(0, -1)], 400],
    ['two messages', [whole, whole], 400],
    ['one that says it is compressed', [framed(question, 1)], 400],
    ['one of four megabytes', [framed(megabytes)], 400],
    ['one that is too long', [framed(Buffer.concat([question, megabytes]))], 400],
  ];
  for (const [name, pieces, decision] of messages)
    await t.test(name, async (t) => {
      const response = await exchange(session, call, pieces);
      t.match(response, { status: 200, grpcStatus: '0' });
      t.equal(decided(response), decision);
    });

  const others: [name: string, headers: object, expected: object][] = [
    [
      'application/grpc+proto',
      { 'content-type': 'application/grpc+proto' },
      { status: 200, grpcStatus: '0' },
    ],
    [
      'another method',
      { ':path': '/envoy.service.auth.v3.Authorization/Ask' },
      { status: 200, grpcStatus: '12' },
    ],
    ['a query', { ':path': `${checkPath}?` }, { status: 200, grpcStatus: '12' }],
    ['a page of a browser', { 'content-type': 'text/plain' }, { status: 415, grpcStatus: undefined }],
    ['gRPC for browsers', { 'content-type': 'application/grpc-web' }, { status: 415, grpcStatus: undefined }],
    ['PUT', { ':method': 'PUT' }, { status: 405, grpcStatus: undefined }],
  ];
  for (const [name, headers, expected] of others)
    t.match(await exchange(session, { ...call, ...headers }, [whole]), expected, name);

  const head = { ...call, ':method': 'HEAD' };
  t.match(await exchange(session, head), { status: 405, grpcStatus: undefined }, 'HEAD');

  await t.test('a call that its client has given up', async (t) => {
    const stream = session.request(call);
    stream.on('error', () => {});
    stream.write(whole.subarray(0, 7));
    stream.close(constants.NGHTTP2_CANCEL);
    await once(stream, 'close');
    t.equal(decided(await exchange(session, call, [whole])), 200);
  });
});

t.test('a peer that may not ask is refused before its question is read', async (t) => {
  const { portOf } = await startDeciding(t, { routes }, { proxies: ['192.0.2.0/24'] });
  const session = await connectTo(t, portOf('envoy_grpc'));
  const stream = session.request(call);
  stream.on('error', () => {});
  stream.write(framed(question).subarray(0, -1));
  const [bytes] = (await once(stream, 'data')) as [Buffer];
  t.equal(decided({ status: 200, grpcStatus: '0', bytes }), 403);
  await once(session, 'close');
});

t.test('a drain answers what has begun to come', async (t) => {
  const { portOf, stop } = await startDeciding(t, { routes });
  const session = await connectTo(t, portOf('envoy_grpc'));
  const whole = framed(question);
  let stopped: Promise<unknown> | undefined;
  async function* pieces() {
    yield whole.subarray(0, 7);
    // A ping may overtake the headers that are sent with it, but not those of before.
    for (let i = 0; i < 2; i++) await new Promise((resolve) => session.ping(resolve));
    stopped = stop();
    await once(session, 'goaway');
    yield whole.subarray(7);
  }
  t.equal(decided(await exchange(session, call, pieces())), 200);
  await stopped;
});

t.test('a connection that does not begin HTTP/2 is cut', async (t) => {
  const { portOf, managementPort } = await startDeciding(t, { routes, limits: { header_timeout: '1s' } });
  const session = await connectTo(t, portOf('envoy_grpc'));
  for (const bytes of [
    '',
    'GET / HTTP/1.1\r\n\r\n',
    'PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n',
    randomBytes(1_000),
  ]) {
    const socket = connect(portOf('envoy_grpc'), '127.0.0.1');
    socket.on('error', () => {}).resume();
    socket.write(bytes);
    await once(socket, 'close');
  }
  t.equal(decided(await exchange(session, call, [framed(question)])), 200, 'others stay');
  const metrics = await (await fetch(`http://127.0.0.1:${managementPort}/metrics`)).text();
  t.match(metrics, /^postern_decision_connections 1$/m);
});

t.test('connections that break the protocol leave nothing in memory', async (t) => {
  const { portOf } = await startDeciding(t, { routes });
  const preface = Buffer.from('PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n');
  const settings = frame(4, 0);
  const goaway = frame(7, 0, Buffer.alloc(8));
  const resetOfNoStream = frame(3, 1, Buffer.alloc(4));
  for (let i = 0; i < 20; i += 1) {
    const socket = connect(portOf('envoy_grpc'), '127.0.0.1');
    socket.on('error', () => {}).resume();
    socket.write(Buffer.concat([preface, settings, goaway, resetOfNoStream]));
    await once(socket, 'close');
  }
  const session = performServerHandshake(new PassThrough());
  session.destroy();
  await once(session, 'close');
  await nextTurn();
  t.ok(queryObjects(session.constructor, { format: 'count' }) < 10);
});

/** A frame of HTTP/2 without flags (RFC 9113 §4.1). */
function frame(type: number, stream: number, payload: Buffer = Buffer.alloc(0)): Buffer {
  const head = Buffer.alloc(9);
  head.writeUIntBE(payload.length, 0, 3);
  head[3] = type;
  head.writeUInt32BE(stream, 5);
  return Buffer.concat([head, payload]);
}
