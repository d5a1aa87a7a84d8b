import { randomFillSync } from 'node:crypto';
import type { Principal } from '../credentials/principal.ts';
import { type OwnCookies, withoutCookies } from '../http/cookies.ts';
import type { Exchange } from '../http/exchange.ts';
import { type Meaning, meaning, meaningOf, type PassedMeaning } from '../http/header-names.ts';
import type { RequestHead } from '../http/request-head.ts';
import { withoutOwnProtocols } from '../http/websocket-protocols.ts';
import { normalisedName } from '../rules/known-headers.ts';
import { acceptTraceparent } from '../tracing/traceparent.ts';
import type { ForwardingRoute } from './route-table.ts';

/** The header of the JWT that proves a request to come from Postern (`upstreams.*.assertion`). */
export const assertionHeader = 'X-Auth-Assertion';

/** What goes into the upstream's request besides the client's own headers. */
export interface Forwarding {
  /** Flat list of the caller's `X-Auth-*` headers; empty without a credential. */
  readonly identityHeaders: readonly string[];
  /** The `Host` to send. */
  readonly host: string;
  readonly requestId: string;
  /** Address of the peer of the connection. */
  readonly peer: string;
  readonly encrypted: boolean;
  /** Whether the peer's own `X-Forwarded-*` are trusted. */
  readonly fromTrustedProxy: boolean;
  /** Decides, by the configuration, which of the client's headers pass. */
  readonly passedMeaning: PassedMeaning;
  /** Postern's own cookies, which no upstream receives. */
  readonly ownCookies: OwnCookies;
  /** Drops credentials of every kind: a preflight is forwarded without authentication. */
  readonly withoutCredentials: boolean;
  /** The protocol that the request asks to switch to; null: none. */
  readonly upgrade: string | null;
  /** That of our own span; null: none is recorded, and the client's or a new one is sent. */
  readonly traceparent: string | null;
}

/**
 * The headers sent to the upstream, names and values in turn: `Host`, the client's headers without those that only
 * Postern may set, the framing, then Postern's own.
 */
export function requestHeaders(head: RequestHead, forwarding: Forwarding): string[] {
  const headers = ['Host', forwarding.host];
  append(headers, cleanedHeaders(head, forwarding));
  append(headers, framingHeaders(head, forwarding.upgrade));
  const traceparent = forwarding.traceparent ?? traceparentOf(head) ?? newTraceparent();
  append(headers, identifyingHeaders(head, forwarding, traceparent));
  return headers;
}

/** The headers of an exchange's request to the upstream of `route`; a preflight carries no credentials. */
export function forwardedHeaders(
  exchange: Exchange,
  route: ForwardingRoute,
  principal: Principal | null,
  preflight: boolean,
  upgrade: string | null,
  rules: Pick<Forwarding, 'passedMeaning' | 'ownCookies'>,
): string[] {
  const { head, connection } = exchange;
  const { upstream } = route;
  return requestHeaders(head, {
    identityHeaders: principal === null ? none : route.identityHeadersOf(principal),
    host: upstream.host ?? (head.host === '' ? upstream.authority : head.host),
    requestId: exchange.id,
    peer: connection.peer,
    encrypted: connection.encrypted,
    fromTrustedProxy: exchange.fromTrustedProxy,
    passedMeaning: rules.passedMeaning,
    ownCookies: rules.ownCookies,
    withoutCredentials: preflight,
    upgrade,
    traceparent: exchange.trace === null ? null : exchange.trace.traceparent,
  });
}

const none: readonly string[] = [];

function append(into: string[], headers: readonly string[]): void {
  for (let i = 0; i < headers.length; i++) into.push(headers[i]!);
}

/**
 * Step 5 of the request path, clean: those of the client's headers that an upstream may see, unchanged and in order.
 * Headers that `Connection` names are removed, whatever they mean.
 */
export function cleanedHeaders(
  head: RequestHead,
  rules: Pick<Forwarding, 'passedMeaning' | 'ownCookies' | 'withoutCredentials'>,
): string[] {
  const { raw, connectionNames } = head;
  const { passedMeaning, withoutCredentials } = rules;
  const headers: string[] = [];
  for (let i = 0; i < raw.length; i += 2) {
    const name = raw[i]!;
    // Browsers send none with a preflight, and it could run the handler of another method unauthenticated.
    if (withoutCredentials && meaningOf(name) === meaning.methodOverride) continue;
    const value = passedValue(passedMeaning(name), raw[i + 1]!, head, rules);
    if (value === undefined) continue;
    if (connectionNames === null || !connectionNames.has(normalisedName(name))) headers.push(name, value);
  }
  return headers;
}

/** The part of a header's value that passes; undefined if the header is dropped. */
function passedValue(
  what: Meaning,
  value: string,
  head: RequestHead,
  rules: Pick<Forwarding, 'ownCookies' | 'withoutCredentials'>,
): string | undefined {
  switch (what) {
    case meaning.plain:
    case meaning.contentType:
    case meaning.userAgent:
    case meaning.origin:
    case meaning.secFetchSite:
    case meaning.secFetchMode:
    case meaning.secFetchDest:
    case meaning.secPurpose:
    case meaning.accept:
    case meaning.serviceWorker:
    case meaning.requestMethod:
      return value;
    case meaning.cookie:
      return rules.withoutCredentials ? undefined : withoutCookies(value, rules.ownCookies) || undefined;
    case meaning.webSocketProtocol:
      return withoutOwnProtocols(value) || undefined;
    case meaning.tracestate:
      // It belongs to the caller's trace, and is meaningless in a new one (W3C Trace Context §4.3).
      return traceparentOf(head) === null ? undefined : value;
    default:
      return undefined;
  }
}

/** The framing of the body and the requested protocol, never copied from the client. */
function framingHeaders(head: RequestHead, upgrade: string | null): string[] {
  const headers: string[] = [];
  const { isChunked, length } = head.framing;
  if (isChunked) headers.push('Transfer-Encoding', 'chunked');
  else if (length >= 0) headers.push('Content-Length', String(length));
  if (upgrade !== null) headers.push('Connection', 'Upgrade', 'Upgrade', upgrade);
  return headers;
}

/** Step 6 of the request path, identify: who is calling, from where, and the ids that trace the request. */
export function identifyingHeaders(head: RequestHead, forwarding: Forwarding, traceparent: string): string[] {
  const { peer, fromTrustedProxy } = forwarding;
  const proto = forwarding.encrypted ? 'https' : 'http';
  const trustsFor = fromTrustedProxy && head.forwardedFor !== '';
  const headers = [
    ...forwarding.identityHeaders,
    'X-Request-Id',
    forwarding.requestId,
    'X-Forwarded-For',
    trustsFor ? `${head.forwardedFor}, ${peer}` : peer,
    'X-Forwarded-Proto',
    fromTrustedProxy && head.forwardedProto !== '' ? head.forwardedProto : proto,
    'traceparent',
    traceparent,
  ];
  const host = fromTrustedProxy && head.forwardedHost !== '' ? head.forwardedHost : head.host;
  // HTTP/1.0 does not require one.
  if (host !== '') headers.push('X-Forwarded-Host', host);
  return headers;
}

/** The client's `traceparent` in version 00; null unless it was given exactly once and is well-formed. */
export function traceparentOf(head: RequestHead): string | null {
  return head.traceparentCount === 1 ? acceptTraceparent(head.traceparent) : null;
}

const idBytes = 24;
const randomPool = Buffer.alloc(idBytes * 256);
let poolOffset = randomPool.length;

/** A new trace, not sampled: no caller asked for it. */
function newTraceparent(): string {
  if (poolOffset === randomPool.length) {
    randomFillSync(randomPool);
    poolOffset = 0;
  }
  const hex = randomPool.toString('hex', poolOffset, poolOffset + idBytes);
  poolOffset += idBytes;
  return `00-${hex.slice(0, 32)}-${hex.slice(32)}-00`;
}
