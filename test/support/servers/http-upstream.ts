import { createServer, type RequestListener, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { createCredentialWatch } from '../gateway/credential-watch.ts';
import type { TestScope } from '../gateway/gateway.ts';

/** An upstream of Node's own, for bodies that stream. */
export interface HttpUpstream {
  readonly url: string;
  /** Client connections open now. */
  connections(): Promise<number>;
}

/** Starts it on a free loopback port. */
export async function startHttpUpstream(t: TestScope, listener: RequestListener): Promise<HttpUpstream> {
  const watch = createCredentialWatch();
  t.teardown(() => watch.assertNone());
  const server = createServer((request, response) => {
    watch.search(request.url!, request.rawHeaders);
    listener(request, response);
  });
  const port = await listenOnLoopback(t, server);
  return {
    url: `http://127.0.0.1:${port}`,
    connections: () =>
      new Promise((resolve, reject) => {
        server.getConnections((error, count) => (error ? reject(error) : resolve(count)));
      }),
  };
}

/** Has the server listen on a free loopback port until the test's teardown; gives the port. */
export async function listenOnLoopback(t: TestScope, server: Server): Promise<number> {
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
  return (server.address() as AddressInfo).port;
}
