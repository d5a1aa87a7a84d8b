import { type AddressInfo, connect, createServer, type Socket } from 'node:net';
import t from 'tap';
import { UpstreamConnection } from '../../src/http1/client-connection.ts';
import type { UpstreamRequest } from '../../src/http1/client-request.ts';
import { headText } from '../../src/http1/head-text.ts';
import type { TestScope } from '../support/gateway.ts';
import { givenSocket } from '../support/given-socket.ts';

/** A connection to a server that responds to every request with those bytes, and how often it became free. */
async function connectTo(t: TestScope, response: (socket: Socket) => void) {
  const server = createServer((socket) => socket.on('data', () => response(socket)).on('error', () => {}));
  await new Promise<void>((resolve) => {
    server.listen(0, '127.0.0.1', resolve);
  });
  const { port } = server.address() as AddressInfo;
  const onGone = () => void owner.gone++;
  const owner = { free: 0, gone: 0, onFree: () => void owner.free++, onGone, onSwitched: onGone };
  const connection = new UpstreamConnection(givenSocket(connect(port, '127.0.0.1')), owner, 1_000);
  t.teardown(() => {
    connection.destroy();
    server.close();
  });
  return { connection, owner };
}
/** Sends a request and returns the body of the response; `onData` sees every piece. */
function ask(connection: UpstreamConnection, onData: (chunk: Buffer) => void = () => {}): Promise<string> {
  return new Promise((resolve, reject) => {
    let body = '';
    const request: UpstreamRequest = {
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
      onData(chunk) {
        body += chunk;
        onData(chunk);
      },
      onEnd: () => resolve(body),
      onError: reject,
    };
    connection.send(request);
  });
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
