import { once } from 'node:events';
import { type AddressInfo, createServer } from 'node:net';
import type { Config } from '../config/sections/schema.ts';

/** Where something listens. */
export interface ListeningPlace {
  readonly host: string;
  readonly port: number;
}

/** Where every worker listens: for requests first, then for decisions, in the order of `forward_auth`. */
export function sharedPlaces({ listen, forward_auth }: Config): readonly ListeningPlace[] {
  return [listen, ...forward_auth].map(({ host, port }) => ({ host, port }));
}

/**
 * Listens at all of these places alone, for a moment, so that a port that anyone holds is an error, although the processes
 * that are about to listen there share it. Resolves to the places with the ports that the system has chosen where they
 * were 0; rejects with Node's error.
 */
export async function claimPorts(places: readonly ListeningPlace[]): Promise<ListeningPlace[]> {
  const servers = places.map(() => createServer((socket) => socket.destroy()));
  const claimed: ListeningPlace[] = [];
  try {
    for (const [index, { host, port }] of places.entries()) {
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
