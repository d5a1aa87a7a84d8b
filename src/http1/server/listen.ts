import { once } from 'node:events';
import type { AddressInfo, ListenOptions, Server } from 'node:net';

/** Starts a server; resolves with its address, or rejects if the server can't listen. */
export async function listen(server: Server, options: ListenOptions): Promise<AddressInfo> {
  server.listen(options);
  await once(server, 'listening');
  return server.address() as AddressInfo;
}
