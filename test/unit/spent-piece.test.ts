import { once } from 'node:events';
import { type AddressInfo, connect, createServer, type Socket } from 'node:net';
import t from 'tap';
import { releaseBuffer } from '../../src/http1/message/release-buffer.ts';

/** A connection whose other side reads nothing. */
async function startUnread(t: { teardown(run: () => void): unknown }): Promise<Socket> {
  const server = createServer((socket) => socket.pause()).listen(0, '127.0.0.1');
  await once(server, 'listening');
  const socket = connect((server.address() as AddressInfo).port, '127.0.0.1');
  await once(socket, 'connect');
  t.teardown(() => {
    socket.destroy();
    server.close();
  });
  return socket;
}

/** Memory of its own, as what is read from a socket has. */
const piece = (bytes: number) => Buffer.from(new ArrayBuffer(bytes));

t.test('a piece that the kernel took whole is freed', async (t) => {
  const socket = await startUnread(t);
  const bytes = piece(64 * 1024);
  socket.write(bytes);
  releaseBuffer(bytes, socket);
  t.equal(bytes.length, 0);
});

t.test('a piece that still has to be written is kept', async (t) => {
  const socket = await startUnread(t);
  socket.write(Buffer.alloc(32 * 2 ** 20));
  const bytes = piece(64 * 1024);
  socket.write(bytes);
  releaseBuffer(bytes, socket);
  t.equal(bytes.length, 64 * 1024);
});

t.test('memory that is shared or hardly any stays', async (t) => {
  const socket = await startUnread(t);
  const shared = piece(128 * 1024);
  releaseBuffer(shared.subarray(0, 64 * 1024), socket);
  t.equal(shared.length, 128 * 1024);
  const small = piece(1024);
  releaseBuffer(small, socket);
  t.equal(small.length, 1024);
});
