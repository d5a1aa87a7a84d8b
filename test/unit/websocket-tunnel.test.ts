import { once } from 'node:events';
import { type AddressInfo, connect, createServer, type Socket } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import t, { type Test } from 'tap';
import { Tunnel } from '../../src/proxy/tunnel.ts';
import { judgeElapsed } from '../support/elapsed.ts';

/** Two ends of a connection: the first is given to a tunnel, the second is its peer. */
async function connected(t: Test): Promise<[Socket, Socket]> {
  const server = createServer({ allowHalfOpen: true });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const peer = connect((server.address() as AddressInfo).port, '127.0.0.1');
  const [end] = (await once(server, 'connection')) as [Socket];
  for (const socket of [end, peer]) {
    socket.on('error', () => {});
    t.teardown(() => socket.destroy());
  }
  server.close();
  return [end, peer];
}

async function startTunnel(t: Test, { isWebSocket = true, idleTimeoutMs = 60_000 } = {}) {
  const [client, clientPeer] = await connected(t);
  const [upstream, upstreamPeer] = await connected(t);
  const ends = { client, upstream, fromClient: Buffer.alloc(0), fromUpstream: Buffer.alloc(0) };
  const tunnel = new Tunnel(ends, { isWebSocket, idleTimeoutMs, onBytes: () => {}, onIdle: () => {} });
  tunnel.start();
  return { tunnel, client, clientPeer, upstreamPeer };
}

const piece = Buffer.alloc(32 * 1024, 'x');

t.test('bytes sent before an end arrive, however late they are read', async (t) => {
  const { client, clientPeer, upstreamPeer } = await startTunnel(t);
  let arrived = 0;
  clientPeer.on('data', (chunk: Buffer) => {
    arrived += chunk.length;
  });
  clientPeer.pause();
  let sent = 0;
  // Until the kernel takes no more and the rest waits in the tunnel itself.
  while (client.writableLength === 0) {
    upstreamPeer.write(piece);
    sent += piece.length;
    await sleep(1);
  }
  upstreamPeer.destroySoon();
  await sleep(1_500);
  t.ok(client.writableLength > 0, 'it is still waiting');
  clientPeer.resume();
  await once(clientPeer, 'end');
  t.equal(arrived, sent);
});

t.test('an idle tunnel is cut also while one side does not read', async (t) => {
  const { client, clientPeer, upstreamPeer } = await startTunnel(t, { idleTimeoutMs: 200 });
  clientPeer.pause();
  while (client.writableLength === 0) {
    upstreamPeer.write(piece);
    await sleep(1);
  }
  const startedMs = performance.now();
  await once(client, 'close');
  judgeElapsed(t, startedMs, 1_000);
});

t.test('a side that does not read is gone within a second of the credential', async (t) => {
  const { tunnel, client, clientPeer, upstreamPeer } = await startTunnel(t);
  clientPeer.pause();
  while (client.writableLength === 0) {
    upstreamPeer.write(Buffer.from([0x82, 0]));
    upstreamPeer.write(Buffer.concat([Buffer.from([0x82, 126, 0x80, 0]), piece]));
    await sleep(1);
  }
  const startedMs = performance.now();
  tunnel.end();
  await once(client, 'close');
  judgeElapsed(t, startedMs, 600);
});

t.test('each side is told 1008 where its own frames allow it', async (t) => {
  const { tunnel, clientPeer, upstreamPeer } = await startTunnel(t);
  let toClient = Buffer.alloc(0);
  let toUpstream = Buffer.alloc(0);
  clientPeer.on('data', (chunk) => {
    toClient = Buffer.concat([toClient, chunk]);
  });
  upstreamPeer.on('data', (chunk) => {
    toUpstream = Buffer.concat([toUpstream, chunk]);
  });
  // The beginning of a frame of five bytes; whatever stands there now would be taken for its rest.
  clientPeer.write(Buffer.from([0x81, 0x85, 0, 0, 0, 0, 0x41]));
  upstreamPeer.write(Buffer.from([0x81, 1, 0x42]));
  while (toClient.length < 3 || toUpstream.length < 7) await sleep(5);
  tunnel.end();
  await Promise.all([once(clientPeer, 'close'), once(upstreamPeer, 'close')]);
  t.same(toClient, Buffer.from([0x81, 1, 0x42, 0x88, 2, 0x03, 0xf0]));
  t.same(toUpstream, Buffer.from([0x81, 0x85, 0, 0, 0, 0, 0x41]), 'cut, for it can be told nothing');
});

t.test('a WebSocket that was closed already is told nothing more', async (t) => {
  const { tunnel, clientPeer, upstreamPeer } = await startTunnel(t);
  let toClient = Buffer.alloc(0);
  clientPeer.on('data', (chunk) => {
    toClient = Buffer.concat([toClient, chunk]);
  });
  const close = Buffer.from([0x88, 2, 0x03, 0xe8]);
  upstreamPeer.write(close);
  while (toClient.length < 4) await sleep(5);
  tunnel.end();
  await once(clientPeer, 'close');
  t.same(toClient, close);
});

t.test('another protocol is cut', async (t) => {
  const { tunnel, clientPeer, upstreamPeer } = await startTunnel(t, { isWebSocket: false });
  let arrived = 0;
  for (const peer of [clientPeer, upstreamPeer])
    peer.on('data', (chunk: Buffer) => {
      arrived += chunk.length;
    });
  tunnel.end();
  await Promise.all([once(clientPeer, 'close'), once(upstreamPeer, 'close')]);
  t.equal(arrived, 0);
});
