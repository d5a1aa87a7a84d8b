import { once } from 'node:events';
import { createServer, type ServerOpts, type Socket } from 'node:net';
import type { TestScope } from '../gateway/gateway.ts';
import { onFreePort } from './free-port.ts';

/** Where a relay accepts clients. */
export interface RelayListener<Connection> {
  readonly port: number;
  /** Connections accepted so far. */
  readonly accepted: number;
  /** Those open now. */
  readonly connections: ReadonlySet<Connection>;
  /** Ends every connection and refuses new ones. */
  close(): Promise<void>;
  /** Takes new ones in again. */
  reopen(): Promise<void>;
}

/** Listens on a free loopback port until the end of the test; `relay` leads each client on to the server. */
export async function startRelayListener<Connection extends { cut(): void }>(
  t: TestScope,
  relay: (client: Socket) => Connection,
  options: Pick<ServerOpts, 'allowHalfOpen'> = {},
): Promise<RelayListener<Connection>> {
  const connections = new Set<Connection>();
  let accepted = 0;
  const listener = createServer(options, (client) => {
    accepted++;
    const connection = relay(client);
    connections.add(connection);
    client.on('close', () => connections.delete(connection));
  });
  const listen = async (port: number) => {
    listener.listen(port, '127.0.0.1');
    await once(listener, 'listening');
  };
  const port = await onFreePort(listen);
  const close = async () => {
    const closed = listener.listening ? once(listener, 'close') : null;
    listener.close();
    for (const connection of connections) connection.cut();
    await closed;
  };
  t.teardown(close);
  return {
    port,
    get accepted() {
      return accepted;
    },
    connections,
    close,
    async reopen() {
      if (!listener.listening) await listen(port);
    },
  };
}
