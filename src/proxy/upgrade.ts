import type { Duplex } from 'node:stream';
import { Refusal } from '../errors.ts';
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

/**
 * Whether there are file descriptors for an upgraded connection, which takes one towards the upstream beside those of its
 * pool: one that is asked for, or one that has just been switched and is there already.
 */
export type HasRoomForUpgrade = (stage: 'asked' | 'switched') => boolean;

/** What the 101 to a client depends on. */
export interface SwitchRules extends ResponseRules {
  readonly hasRoomForUpgrade: HasRoomForUpgrade;
  readonly corsHeaders: (exchange: Exchange) => readonly string[];
}

/**
 * The protocol to switch to, in lower case: `websocket`, or one that the route allows; null: none. Throws
 * `upstream_overloaded` if there is no room for another.
 */
export function upgradeOf(exchange: Exchange, route: Route, hasRoom: HasRoomForUpgrade): string | null {
  const upgrade = askedFor(exchange, route);
  if (upgrade !== null) assertRoom(hasRoom('asked'));
  return upgrade;
}

function askedFor({ head, minor }: Exchange, route: Route): string | null {
  if (minor === 0 || !asksToUpgrade(head)) return null;
  if (isWebSocketRequest(head)) return 'websocket';
  const name = head.upgrade.toLowerCase();
  return name !== 'websocket' && route.upgrades.has(name) ? name : null;
}

function assertRoom(hasRoom: boolean): void {
  if (!hasRoom) throw new Refusal('upstream_overloaded', { reason: 'no file descriptor left' });
}

/**
 * The headers of the client's 101: the upstream's, cleaned, the protocol, and our subprotocol if it chose none. Throws
 * `upstream_overloaded` if others have taken the room meanwhile.
 */
export function switchFields(
  fields: readonly string[],
  exchange: Exchange,
  upgrade: string,
  rules: SwitchRules,
): string[] {
  assertRoom(rules.hasRoomForUpgrade('switched'));
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

/** Whether headers, names and values in turn, choose a WebSocket subprotocol. */
function namesProtocol(fields: readonly string[]): boolean {
  return fields.some((name, i) => i % 2 === 0 && name.toLowerCase() === 'sec-websocket-protocol');
}
