import type { Exchange } from '../http/exchange.ts';
import { asksToUpgrade, isWebSocketRequest } from '../http/websocket-protocols.ts';
import type { Route } from './route-table.ts';

/** The protocol to switch to, in lower case: WebSocket, or what the route names; never anything else. */
export function upgradeOf({ head, minor }: Exchange, route: Route): string | null {
  if (minor === 0 || !asksToUpgrade(head)) return null;
  if (isWebSocketRequest(head)) return 'websocket';
  const name = head.upgrade.toLowerCase();
  return name !== 'websocket' && route.upgrades.has(name) ? name : null;
}

/** Whether a flat header list names a subprotocol of WebSocket. */
export function chosenProtocol(fields: readonly string[]): boolean {
  return fields.some((name, i) => i % 2 === 0 && name.toLowerCase() === 'sec-websocket-protocol');
}
