import { appendFileSync } from 'node:fs';
import { type AddressInfo, connect, createServer, type Socket } from 'node:net';
import type { TestScope } from '../support/gateway/gateway.ts';

/** A relay between the gateway and an application, which keeps what the gateway sends. */
export interface RecordingRelay {
  readonly port: number;
  /** Port of the application; connections before it is known are reset. */
  target: number;
}

/** Starts the relay; every byte that the gateway sends is appended to that file. */
export async function startRecordingRelay(t: TestScope, file: string): Promise<RecordingRelay> {
  const sockets = new Set<Socket>();
  const server = createServer({ allowHalfOpen: true }, (gateway) => {
    const application = connect({ port: relay.target, host: '127.0.0.1', allowHalfOpen: true });
    for (const [socket, other] of [
      [gateway, application],
      [application, gateway],
    ] as const) {
      sockets.add(socket);
      socket.on('error', () => other.destroy());
      socket.on('close', () => sockets.delete(socket));
      socket.pipe(other);
    }
    gateway.on('data', (bytes) => appendFileSync(file, bytes));
  });
  await new Promise<void>((resolve) => {
    server.listen(0, '127.0.0.1', resolve);
  });
  t.teardown(
    () =>
      new Promise<void>((resolve) => {
        server.close(() => resolve());
        for (const socket of sockets) socket.destroy();
      }),
  );
  const relay: RecordingRelay = { port: (server.address() as AddressInfo).port, target: 0 };
  return relay;
}
