import type { AddressInfo, ListenOptions, Server } from 'node:net';

/** Starts a server; resolves with its address, and rejects if the server can't listen there. */
export function listen(server: Server, options: ListenOptions): Promise<AddressInfo> {
  return new Promise((resolve, reject) => {
    server.once('error', reject);
    server.listen(options, () => {
      server.off('error', reject);
      resolve(server.address() as AddressInfo);
    });
  });
}
