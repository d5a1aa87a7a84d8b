import { randomFillSync } from 'node:crypto';
import { withoutCookies } from '../http/cookies.ts';
import { meaning, meaningOf, normalisedName } from '../http/header-names.ts';
import type { RequestHead } from '../http/request-head.ts';
import { withoutOwnProtocols } from '../http/websocket-protocols.ts';

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
  /** Names of Postern's own cookies. */
  readonly ownCookies: readonly string[];
  /** A preflight that goes through unauthenticated carries no credential of any kind. */
  readonly withoutCredentials: boolean;
  /** The protocol that the upstream is asked to switch to; null: none. */
  readonly upgrade: string | null;
}

/**
 * The headers that go upstream, names and values in turn: what the client sent, cleaned of everything that is
 * Postern's to say, then what Postern says. One `Host`, one framing header.
 */
export function requestHeaders(head: RequestHead, forwarding: Forwarding): string[] {
  const headers: string[] = ['Host', forwarding.host];
  clean(head, forwarding, headers);
  if (head.transferEncodingCount > 0) headers.push('Transfer-Encoding', 'chunked');
  else if (head.contentLengthCount > 0) headers.push('Content-Length', String(Number(head.contentLength)));
  if (forwarding.upgrade !== null) headers.push('Connection', 'Upgrade', 'Upgrade', forwarding.upgrade);
  const { identityHeaders } = forwarding;
  for (let i = 0; i < identityHeaders.length; i++) headers.push(identityHeaders[i]!);
  describeConnection(head, forwarding, headers);
  return headers;
}

/** The whole head as it goes on the wire, blank line included (RFC 9112 §3, §5). */
export function requestHeadText(
  method: string,
  target: string,
  head: RequestHead,
  forwarding: Forwarding,
): string {
  const headers = requestHeaders(head, forwarding);
  let text = `${method} ${target} HTTP/1.1\r\n`;
  for (let i = 0; i < headers.length; i += 2) text += `${headers[i]}: ${headers[i + 1]}\r\n`;
  return `${text}\r\n`;
}

/** Step 5 of the request path: passes on what means nothing to Postern and drops the rest. */
function clean(head: RequestHead, forwarding: Forwarding, into: string[]): void {
  const { raw, connectionNames } = head;
  for (let i = 0; i < raw.length; i += 2) {
    const name = raw[i]!;
    switch (meaningOf(name)) {
      case meaning.plain:
      case meaning.contentType:
      case meaning.userAgent:
      case meaning.origin:
      case meaning.secFetchSite:
      case meaning.secPurpose:
      case meaning.requestMethod:
        if (connectionNames === null || !connectionNames.has(normalisedName(name)))
          into.push(name, raw[i + 1]!);
        break;
      case meaning.cookie: {
        const cookie = forwarding.withoutCredentials
          ? ''
          : withoutCookies(raw[i + 1]!, forwarding.ownCookies);
        if (cookie !== '') into.push(name, cookie);
        break;
      }
      case meaning.webSocketProtocol: {
        const offered = withoutOwnProtocols(raw[i + 1]!);
        if (offered !== '') into.push(name, offered);
        break;
      }
    }
  }
}

/** Where the request came from, and the ids by which it is traced. */
function describeConnection(head: RequestHead, forwarding: Forwarding, into: string[]): void {
  const { peer, fromTrustedProxy } = forwarding;
  const proto = forwarding.encrypted ? 'https' : 'http';
  const trustsFor = fromTrustedProxy && head.forwardedFor !== '';
  into.push(
    'X-Request-Id',
    forwarding.requestId,
    'X-Forwarded-For',
    trustsFor ? `${head.forwardedFor}, ${peer}` : peer,
    'X-Forwarded-Proto',
    fromTrustedProxy && head.forwardedProto !== '' ? head.forwardedProto : proto,
    'traceparent',
    isTraceparent(head) ? head.traceparent : newTraceparent(),
  );
  const host = fromTrustedProxy && head.forwardedHost !== '' ? head.forwardedHost : head.host;
  // Over HTTP/1.0 nobody need have named one.
  if (host !== '') into.push('X-Forwarded-Host', host);
}

const traceparentValue = /^00-(?!0{32})[0-9a-f]{32}-(?!0{16})[0-9a-f]{16}-[0-9a-f]{2}$/;

/** W3C Trace Context §3.2, given once. */
function isTraceparent(head: RequestHead): boolean {
  return (
    head.traceparentCount === 1 && head.traceparent.length === 55 && traceparentValue.test(head.traceparent)
  );
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
