import type { AddressInfo } from 'node:net';
import type { Config } from '../../../src/config/sections/schema.ts';
import { Exchange } from '../../../src/http/exchange.ts';
import { asItIs } from '../../../src/http/reply.ts';
import { HttpListener, type ListenerSettings } from '../../../src/listeners/http-listener.ts';
import type { TestScope } from './gateway.ts';

const hour = 3_600_000;

/** Limits that a test reaches only if it sets them. */
const limits: ListenerSettings['limits'] = {
  connections: 10,
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
  readonly server: HttpListener['server'];
  readonly port: number;
}

/** Starts a listener whose exchanges `onExchange` handles; it is closed when the test ends. */
export async function startPublicListener(
  t: TestScope,
  onExchange: (exchange: Exchange) => void,
  more: {
    readonly limits?: Partial<ListenerSettings['limits']>;
    readonly onClosed?: (exchange: Exchange) => void;
  } = {},
): Promise<PublicListener> {
  const { server } = new HttpListener(
    { tenant: 'acme' } as Config,
    null,
    {
      decidesFor: '',
      adopt: () => ({
        limits: { ...limits, ...more.limits },
        longTargets: { maxBytes: 0, has: () => false },
        unreadableFields: [],
      }),
      admits: () => true,
      createExchange: (channel, response, head, text) =>
        new Exchange(channel, response, head, text, channel.peer, false),
      refusalShape: asItIs,
      respond(exchange, refusal) {
        exchange.onOver = () => more.onClosed?.(exchange);
        if (refusal === null) onExchange(exchange);
      },
      refuseBegun: null,
    },
    {
      engine: { createListener: undefined, openConnection: undefined },
      log: { access: () => {}, info: () => {} },
      refusals: { count: () => {} },
      removed: { count: () => {} },
      metrics: {
        requests: { done: () => {}, unreadable: () => {} },
        decisions: { done: () => {}, unreadable: () => {} },
      },
      tracing: null,
      onConnectionRefused: () => {},
      onHandshakeFailed: () => {},
    },
  );
  const { port }: AddressInfo = await server.listen('127.0.0.1', 0);
  t.teardown(() => server.drain(0));
  return { server, port };
}
