import type { AddressInfo } from 'node:net';
import { createTrustedProxies } from '../../../src/http/client-address.ts';
import type { Exchange } from '../../../src/http/exchange.ts';
import {
  PublicServer,
  type PublicServerOptions,
  type ServerLimits,
} from '../../../src/http/public-server.ts';
import type { TestScope } from './gateway.ts';

const hour = 3_600_000;

/** Limits that a test reaches only if it sets them. */
const limits: ServerLimits = {
  connections: 10,
  connectionsPerAddress: 0,
  targetBytes: 8_192,
  headerBytes: 16_384,
  headerCount: 100,
  headerTimeoutMs: hour,
  bodyIdleTimeoutMs: hour,
  bodyJudgedAfterMs: hour,
  keepAliveTimeoutMs: hour,
  writeIdleTimeoutMs: hour,
  requestsPerConnection: 0,
};

/** A public listener on loopback, without the rest of a gateway. */
export interface PublicListener {
  readonly server: PublicServer;
  readonly port: number;
}

/** Starts a listener whose exchanges `onExchange` handles; it is closed when the test ends. */
export async function startPublicListener(
  t: TestScope,
  onExchange: (exchange: Exchange) => void,
  more: { readonly limits?: Partial<ServerLimits>; readonly onClosed?: PublicServerOptions['onClosed'] } = {},
): Promise<PublicListener> {
  const server = new PublicServer({
    limits: { ...limits, ...more.limits },
    proxies: createTrustedProxies([]),
    realm: 'acme',
    tls: null,
    onExchange,
    onRefused: () => {},
    onClosed: more.onClosed ?? (() => {}),
    onConnectionRefused: () => {},
    onUnreadable: () => {},
    onHandshakeFailed: () => {},
  });
  const { port }: AddressInfo = await server.listen('127.0.0.1', 0);
  t.teardown(() => server.drain(0));
  return { server, port };
}
