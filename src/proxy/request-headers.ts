import { randomFillSync } from 'node:crypto';
import { type OwnCookies, withoutCookies } from '../http/cookies.ts';
import { type Meaning, meaning, meaningOf, type PassedMeaning } from '../http/header-names.ts';
import type { RequestHead } from '../http/request-head.ts';
import { withoutOwnProtocols } from '../http/websocket-protocols.ts';
import { normalisedName } from '../rules/known-headers.ts';
import { acceptTraceparent } from '../tracing/traceparent.ts';

/** What the upstream is told beside the client's own headers. */
export interface Forwarding {
  /** Flat list of the caller's `X-Auth-*` headers; empty without a credential. */
  readonly identityHeaders: readonly string[];
  /** The `Host` to send. */
  readonly host: string;
  readonly requestId: string;
  /** Address of the peer of the connection. */
  readonly peer: string;
  readonly encrypted: boolean;
  /** Whether the peer's own `X-Forwarded-*` count. */
  readonly fromTrustedProxy: boolean;
  /** What of the client's headers passes, by the configuration. */
  readonly passedMeaning: PassedMeaning;
  /** Postern's own cookies, which go to no upstream. */
  readonly ownCookies: OwnCookies;
  /** A preflight that goes through unauthenticated carries no credential of any kind. */
  readonly withoutCredentials: boolean;
  /** The protocol that the upstream is asked to switch to; null: none. */
  readonly upgrade: string | null;
  /** That of our own span; null: without one, the client's or a new one. */
  readonly traceparent: string | null;
}

/**
 * The headers that go upstream, names and values in turn: one `Host`, what the client sent, cleaned of everything that
 * is Postern's to say, one framing header, then what Postern says.
 */
export function requestHeaders(head: RequestHead, forwarding: Forwarding): string[] {
  const headers = ['Host', forwarding.host];
  append(headers, cleanedHeaders(head, forwarding));
  append(headers, framingHeaders(head, forwarding.upgrade));
  const traceparent = forwarding.traceparent ?? traceparentOf(head) ?? newTraceparent();
  append(headers, identifyingHeaders(head, forwarding, traceparent));
  return headers;
}

function append(into: string[], headers: readonly string[]): void {
  for (let i = 0; i < headers.length; i++) into.push(headers[i]!);
}

/**
 * Step 5 of the request path, clean: of the client's own headers those that mean nothing to Postern, as they stand and
 * in their order. What `Connection` names goes, whatever it means.
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
    // No browser's preflight has one, and under another method a handler would run for nobody.
    if (withoutCredentials && meaningOf(name) === meaning.methodOverride) continue;
    const value = passedValue(passedMeaning(name), raw[i + 1]!, head, rules);
    if (value === undefined) continue;
    if (connectionNames === null || !connectionNames.has(normalisedName(name))) headers.push(name, value);
  }
  return headers;
}

/** What passes of a header; undefined when nothing does. */
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
    case meaning.secPurpose:
    case meaning.requestMethod:
      return value;
    case meaning.cookie:
      return rules.withoutCredentials ? undefined : withoutCookies(value, rules.ownCookies) || undefined;
    case meaning.webSocketProtocol:
      return withoutOwnProtocols(value) || undefined;
    case meaning.tracestate:
      // It tells of the caller's trace, and says nothing in a new one (W3C Trace Context §4.3).
      return traceparentOf(head) === null ? undefined : value;
    default:
      return undefined;
  }
}

/** How the body is framed and which protocol is asked for, written anew. */
function framingHeaders(head: RequestHead, upgrade: string | null): string[] {
  const headers: string[] = [];
  const { isChunked, length } = head.framing;
  if (isChunked) headers.push('Transfer-Encoding', 'chunked');
  else if (length >= 0) headers.push('Content-Length', String(length));
  if (upgrade !== null) headers.push('Connection', 'Upgrade', 'Upgrade', upgrade);
  return headers;
}

/** Step 6 of the request path, identify: who is calling, where from, and the ids by which the request is traced. */
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
  // Over HTTP/1.0 nobody need have named one.
  if (host !== '') headers.push('X-Forwarded-Host', host);
  return headers;
}

/** The client's `traceparent` in version 00; null when it was not given once and well-formed. */
export function traceparentOf(head: RequestHead): string | null {
  return head.traceparentCount === 1 ? acceptTraceparent(head.traceparent) : null;
}

const idBytes = 24;
const randomPool = Buffer.alloc(idBytes * 256);
let poolOffset = randomPool.length;

/** A new trace that is not sampled: nobody upstream of us asked for it. */
function newTraceparent(): string {
  if (poolOffset === randomPool.length) {
    randomFillSync(randomPool);
    poolOffset = 0;
  }
  const hex = randomPool.toString('hex', poolOffset, poolOffset + idBytes);
  poolOffset += idBytes;
  return `00-${hex.slice(0, 32)}-${hex.slice(32)}-00`;
}
