import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import t from 'tap';
import { firstSuccess } from '../../bench/first-success.ts';
import { requireListeners } from '../../bench/listeners.ts';
import type { RunningPeer } from '../../bench/peers/peer.ts';

t.test('a peer is proved by who listens on its port', async (t) => {
  const server = createServer((_request, response) => response.end());
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const { port } = server.address() as AddressInfo;
  const credentials = { header: 'X-API-Key', values: ['a'] };
  const peer = (pid: number) => ({ port, credentials, pids: () => [pid] }) as unknown as RunningPeer;
  await t.resolves(firstSuccess(peer(process.pid)));
  await t.rejects(firstSuccess(peer(process.ppid)), /another process/);
  await new Promise((resolve) => server.close(resolve));
  t.throws(() => requireListeners(port, [process.pid]), /nothing listens/);
});

t.test('a listener on every address of IPv6, which takes IPv4 too, counts', async (t) => {
  const server = createServer();
  await new Promise<void>((resolve) => server.listen(0, '::', resolve));
  t.teardown(() => server.close());
  const { port } = server.address() as AddressInfo;
  requireListeners(port, [process.pid]);
  t.throws(() => requireListeners(port, [process.ppid]), /another process/);
});
