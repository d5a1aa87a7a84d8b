import { createServer, type RequestListener } from 'node:http';
import type { AddressInfo } from 'node:net';
import type { TestScope } from './gateway.ts';

/** An upstream of Node's own, for bodies that stream. */
export interface HttpUpstream {
  readonly url: string;
  /** Client connections open now. */
  connections(): Promise<number>;
}

/** Starts it on a free loopback port. */
export async function startHttpUpstream(t: TestScope, listener: RequestListener): Promise<HttpUpstream> {
  const server = createServer(listener);
  await new Promise<void>((resolve) => {
    server.listen(0, '127.0.0.1', resolve);
  });
  t.teardown(
    () =>
      new Promise<void>((resolve) => {
        server.close(() => resolve());
        server.closeAllConnections();
      }),
  );
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    connections: () =>
      new Promise((resolve, reject) => {
        server.getConnections((error, count) => (error ? reject(error) : resolve(count)));
      }),
  };
}
