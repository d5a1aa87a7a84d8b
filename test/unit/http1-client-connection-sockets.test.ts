import { once } from 'node:events';
import { type AddressInfo, createServer, type Socket } from 'node:net';
import type { Duplex } from 'node:stream';
import { text } from 'node:stream/consumers';
import t from 'tap';
import { UpstreamConnection } from '../../src/http1/client/client-connection.ts';
import type { UpstreamRequest } from '../../src/http1/client/client-request.ts';
import { createDialler } from '../../src/http1/client/dialler.ts';
import { passedOnBytes } from '../../src/http1/client/socket-reads.ts';
import { headText } from '../../src/http1/message/head-text.ts';
import type { TestScope } from '../support/gateway/gateway.ts';

/** A connection to a server that responds to every request with those bytes, and how often it became free. */
async function connectTo(t: TestScope, response: (socket: Socket) => void) {
  const server = createServer((socket) => socket.on('data', () => response(socket)).on('error', () => {}));
  await new Promise<void>((resolve) => {
    server.listen(0, '127.0.0.1', resolve);
  });
  const { port } = server.address() as AddressInfo;
  const dialler = createDialler({
    address: { host: '127.0.0.1', port },
    tls: null,
    findAddresses: () => () => {},
    connectTimeoutMs: 1_000,
  });
  const onGone = () => void owner.gone++;
  const owner = { free: 0, gone: 0, onFree: () => void owner.free++, onGone, onSwitched: onGone };
  const connection = new UpstreamConnection(dialler, owner, 1_000);
  t.teardown(() => {
    connection.destroy();
    server.close();
  });
  return { connection, owner };
}

/** Sends a request and returns the body of the response; `onData` sees every piece. */
function ask(connection: UpstreamConnection, onData: (chunk: Buffer) => void = () => {}): Promise<string> {
  return new Promise((resolve, reject) => {
    /** Longer pieces are ours, others valid only now. */
    const pieces: Buffer[] = [];
    const onPiece = (chunk: Buffer) => {
      pieces.push(chunk.length > passedOnBytes ? chunk : Buffer.from(chunk));
      onData(chunk);
    };
    const onEnd = () => resolve(Buffer.concat(pieces).toString());
    connection.send({ ...requestOf(reject), onData: onPiece, onEnd });
  });
}

/** Asks to switch protocols; resolves with the socket and what arrived with the response. */
function askToSwitch(connection: UpstreamConnection): Promise<{ socket: Duplex; early: Buffer }> {
  return new Promise((resolve, reject) => {
    const onSwitch = (_fields: string[], socket: Duplex, early: Buffer) => resolve({ socket, early });
    connection.send({ ...requestOf(reject), upgrade: 'echo', onSwitch });
  });
}

function requestOf(onError: UpstreamRequest['onError']): UpstreamRequest {
  return {
    connection: null,
    waitingSince: 0,
    takenAt: 0,
    method: 'GET',
    target: '/',
    fields: ['Host', 'a'],
    headText: headText('GET / HTTP/1.1', ['Host', 'a']),
    chunked: false,
    hasBody: false,
    isUploading: false,
    connectTimeoutMs: 1_000,
    responseTimeoutMs: 1_000,
    idleTimeoutMs: 1_000,
    upgrade: null,
    onSent() {},
    onDrain() {},
    onInterim() {},
    onHead() {},
    onCaughtUp() {},
    onSwitch() {},
    onData() {},
    onEnd() {},
    onError,
  };
}

t.test('a connection that was paused at the last bytes of a response serves the next', async (t) => {
  const { connection, owner } = await connectTo(t, (socket) =>
    socket.write('HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n2\r\nok\r\n0\r\n\r\n'),
  );
  t.equal(await ask(connection, () => connection.pause()), 'ok');
  t.equal(owner.free, 1);
  t.equal(await ask(connection), 'ok');
  t.equal(owner.free, 2);
});

/** Recognisably different everywhere. */
function numbers(bytes: number): string {
  let all = '';
  for (let i = 0; all.length < bytes; i++) all += `${i},`;
  return all;
}

t.test('bodies of every size arrive as they were sent, on connections that read in turn', async (t) => {
  const bodies = [1, 1_000, 16_000, 17_000, 64_000, 70_000, 300_000, 1_000, 2_000_000, 10].map(numbers);
  const connections = await Promise.all(
    bodies.map((body) =>
      connectTo(t, (socket) => {
        socket.write(`HTTP/1.1 200 OK\r\nContent-Length: ${body.length}\r\n`);
        // The head comes in two pieces.
        setTimeout(() => socket.write(`\r\n${body}`), 5);
      }),
    ),
  );
  for (let round = 0; round < 5; round++) {
    const got = await Promise.all(connections.map(({ connection }) => ask(connection)));
    t.ok(
      got.every((body, i) => body === bodies[i]),
      `round ${round}`,
    );
  }
});

t.test('after a switch of protocols the socket is a stream, and makes the upstream wait', async (t) => {
  // Linux may take four megabytes to send them later, and some to be read.
  const sent = numbers(24_000_000);
  let upstream: Socket | undefined;
  const { connection, owner } = await connectTo(t, (socket) => {
    upstream = socket;
    socket.end(
      `HTTP/1.1 101 Switching Protocols\r\nConnection: upgrade\r\nUpgrade: echo\r\n\r\nearly${sent}`,
    );
  });
  const { socket, early } = await askToSwitch(connection);
  t.equal(owner.gone, 1);
  t.teardown(() => socket.destroy());
  socket.on('readable', () => {});
  await once(socket, 'readable');
  await new Promise((resolve) => setTimeout(resolve, 50));
  t.ok(socket.readableLength < sent.length / 4, `${socket.readableLength} bytes wait here`);
  t.ok(upstream!.writableLength > 0, 'the upstream waits');
  socket.removeAllListeners('readable');
  t.ok(`${early}${await text(socket)}` === `early${sent}`, 'all of it arrives');
});
