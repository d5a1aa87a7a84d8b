import { once } from 'node:events';
import { type AddressInfo, createServer } from 'node:net';
import type { ListenerAddress } from '../listeners/listeners.ts';

/**
 * Briefly listens on all of these addresses exclusively, so that a port in use is an error, although the workers will share their
 * ports. Resolves to the addresses, with the ports that the system has chosen in place of 0; rejects with Node's error.
 */
export async function claimPorts(addresses: readonly ListenerAddress[]): Promise<ListenerAddress[]> {
  const servers = addresses.map(() => createServer((socket) => socket.destroy()));
  const claimed: ListenerAddress[] = [];
  try {
    for (const [index, { host, port }] of addresses.entries()) {
      const server = servers[index]!;
      server.listen({ host, port, exclusive: true });
      await once(server, 'listening');
      claimed.push({ host, port: (server.address() as AddressInfo).port });
    }
    return claimed;
  } finally {
    await Promise.all(servers.map((server) => new Promise((resolve) => server.close(resolve))));
  }
}
