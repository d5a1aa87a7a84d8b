import type { Duplex } from 'node:stream';
import type { Exchange } from '../http/exchange.ts';
import {
  asksToUpgrade,
  isWebSocketRequest,
  offersOwnProtocol,
  ownProtocol,
} from '../http/websocket-protocols.ts';
import { type ResponseRules, responseFields } from './response-headers.ts';
import type { Route } from './route-table.ts';
import { Tunnel } from './tunnel.ts';

/** The protocol that the request may switch to, in lower case: `websocket`, or one that the route allows; null: none. */
export function upgradeOf({ head, minor }: Exchange, route: Route): string | null {
  if (minor === 0 || !asksToUpgrade(head)) return null;
  if (isWebSocketRequest(head)) return 'websocket';
  const name = head.upgrade.toLowerCase();
  return name !== 'websocket' && route.upgrades.has(name) ? name : null;
}

/** Headers of the client's 101: the upstream's, cleaned, `Upgrade`, and subprotocol `postern` if offered and none is chosen. */
export function switchFields(
  fields: readonly string[],
  exchange: Exchange,
  upgrade: string,
  rules: ResponseRules,
): string[] {
  const all = responseFields(fields, exchange.id, 'none', rules);
  all.push(
    ...['Connection', 'Upgrade', 'Upgrade', upgrade],
    ...rules.corsHeaders(exchange),
    ...exchange.responseFields,
  );
  if (!namesProtocol(all) && offersOwnProtocol(exchange.head.webSocketProtocols))
    all.push('Sec-WebSocket-Protocol', ownProtocol);
  return all;
}

/** Detaches the client's socket from its connection and joins it to the upstream's; the exchange counts the bytes. */
export function openTunnel(
  exchange: Exchange,
  upstream: Duplex,
  fromUpstream: Buffer,
  upgrade: string,
  idleTimeoutMs: number,
): Tunnel {
  const { socket: client, bytes: fromClient } = exchange.connection.detach();
  return new Tunnel(
    { client, upstream, fromClient, fromUpstream },
    {
      idleTimeoutMs,
      isWebSocket: upgrade === 'websocket',
      onBytes(toClient, fromClient) {
        exchange.response.bodyBytes += toClient;
        exchange.bytesIn += fromClient;
      },
      onIdle() {
        exchange.outcome = 'idle_timeout';
      },
    },
  );
}

/** True if headers, names and values in turn, choose a WebSocket subprotocol. */
function namesProtocol(fields: readonly string[]): boolean {
  return fields.some((name, i) => i % 2 === 0 && name.toLowerCase() === 'sec-websocket-protocol');
}
