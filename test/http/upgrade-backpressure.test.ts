import { once } from 'node:events';
import { connect, type Socket } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import t, { type Test } from 'tap';
import { startTunnelGateway } from '../support/servers/upgrades.ts';
import { webSocketLines } from '../support/servers/web-sockets.ts';

const total = 96 * 1024 * 1024;
/** What four socket buffers on the way may hold, and a little of the gateway's own. */
const mostOnTheWay = 48 * 1024 * 1024;

/** Writes all of it as fast as it is accepted. */
async function pour(socket: Socket): Promise<void> {
  const piece = Buffer.alloc(256 * 1024, 'x');
  for (let sent = 0; sent < total; sent += piece.length)
    if (!socket.write(piece)) await once(socket, 'drain');
}

/** Lets one end pour while the other one doesn't read, then has it read on. */
async function pourUnread(t: Test, from: Socket, to: Socket): Promise<void> {
  let arrived = 0;
  const all = new Promise<void>((resolve) => {
    to.on('data', (chunk: Buffer) => {
      arrived += chunk.length;
      if (arrived >= total) resolve();
    });
  });
  to.pause();
  const poured = pour(from);
  await sleep(500);
  const left = from.bytesWritten - from.writableLength;
  t.ok(left < mostOnTheWay, `${left} bytes left`);
  to.resume();
  await Promise.all([poured, all]);
}

t.test('a slow reader makes the other side wait', async (t) => {
  const gateway = await startTunnelGateway(t);
  const client = connect(gateway.port, '127.0.0.1');
  t.teardown(() => client.destroy());
  client.write(gateway.raw('GET /api/foo/live HTTP/1.1', webSocketLines));
  await once(client, 'data');
  const upstream = gateway.ends[0]!;
  upstream.removeAllListeners('data');
  await t.test('the client', (t) => pourUnread(t, upstream, client));
  await t.test('the upstream', (t) => pourUnread(t, client, upstream));
});
