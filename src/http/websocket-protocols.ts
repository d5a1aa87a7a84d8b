import type { RequestHead } from './request-head.ts';

/** The subprotocol that browsers offer besides the bearer token, so that the server has one to select (RFC 6455 §4.2.2). */
export const ownProtocol = 'postern';
const bearerPrefix = 'postern.bearer.';

/** True if the request asks to become a WebSocket (RFC 6455 §4.1). */
export function isWebSocketRequest(head: RequestHead): boolean {
  return (
    head.mayBeWebSocket &&
    head.upgradeCount === 1 &&
    head.upgrade.toLowerCase() === 'websocket' &&
    asksToUpgrade(head)
  );
}

/** True if the request has one `Upgrade` field, to which `Connection` refers, and no body. */
export function asksToUpgrade(head: RequestHead): boolean {
  return head.upgradeCount === 1 && head.connectionNames?.has('upgrade') === true && !head.hasBody;
}

/** The access tokens offered as `postern.bearer.<token>`: browsers can't set `Authorization` on a WebSocket. */
export function offeredTokens(protocols: string): string[] {
  if (!protocols.includes(bearerPrefix)) return [];
  return listed(protocols)
    .filter((name) => name.startsWith(bearerPrefix))
    .map((name) => name.slice(bearerPrefix.length));
}

/** True if the offered protocols include an access token, with its prefix in any letter case. */
export function offersOwnToken(protocols: string): boolean {
  return protocols !== '' && listed(protocols).some((name) => name.toLowerCase().startsWith(bearerPrefix));
}

/** The offered protocols without `postern` and access tokens (with a prefix in any letter case); empty if none are left. */
export function withoutOwnProtocols(protocols: string): string {
  if (!/postern/i.test(protocols)) return protocols;
  return listed(protocols)
    .filter((name) => name !== ownProtocol && !name.toLowerCase().startsWith(bearerPrefix))
    .join(', ');
}

/** True if the protocol `postern` itself is offered. */
export function offersOwnProtocol(protocols: string): boolean {
  return protocols.includes(ownProtocol) && listed(protocols).includes(ownProtocol);
}

function listed(protocols: string): string[] {
  return protocols.split(',').map((name) => name.trim());
}
