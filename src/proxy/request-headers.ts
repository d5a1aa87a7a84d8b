import { randomFillSync } from 'node:crypto';
import type { Principal } from '../credentials/principal.ts';
import { type OwnCookies, withoutCookies } from '../http/cookies.ts';
import type { Exchange } from '../http/exchange.ts';
import { type Meaning, meaning, meaningOf, type PassedMeaning } from '../http/header-names.ts';
import type { RequestHead } from '../http/request-head.ts';
import { withoutOwnProtocols } from '../http/websocket-protocols.ts';
import {
  type FieldBlock,
  FieldList,
  type FieldSink,
  type HeadText,
  HeadWriter,
  headText,
} from '../http1/message/head-text.ts';
import { normalisedName } from '../rules/known-headers.ts';
import { acceptTraceparent } from '../tracing/traceparent.ts';
import type { ForwardingRoute } from './route-table.ts';

/** The header for the JWT that proves that a request comes from Postern (`upstreams.*.assertion`). */
export const assertionHeader = 'X-Auth-Assertion';

/** Everything besides the client's own headers that decides the headers of the request to the upstream. */
export interface Forwarding {
  /** The headers that identify the caller; null without a credential. */
  readonly identity: FieldBlock | null;
  /** Headers with configured values; null: there are none, or the request is a preflight. */
  readonly fixed: FieldBlock | null;
  readonly host: string;
  readonly requestId: string;
  /** Address of the peer of the connection. */
  readonly peer: string;
  readonly encrypted: boolean;
  /** True if the peer's own `X-Forwarded-*` are trusted. */
  readonly fromTrustedProxy: boolean;
  readonly passedMeaning: PassedMeaning;
  readonly ownCookies: OwnCookies;
  /** True if the client's `Authorization` is the application's own. */
  readonly passesAuthorization: boolean;
  /** True if the client's `X-API-Key` is the application's own. */
  readonly passesApiKey: boolean;
  /** True if credentials of every kind are dropped: a preflight is forwarded without authentication. */
  readonly withoutCredentials: boolean;
  /** The protocol that the request asks to switch to; null: none. */
  readonly upgrade: string | null;
  readonly traceparent: string;
  /** The name of this gateway in `Postern-Via`. */
  readonly via: string;
  /** The beginning of the path that was removed; empty: nothing was. */
  readonly strippedPrefix: string;
}

/** Writes the headers of an upstream request: `Host`, the client's headers that may pass, the framing, then Postern's own. */
export function writeRequestHeaders(head: RequestHead, forwarding: Forwarding, into: FieldSink): void {
  into.add('Host', forwarding.host);
  writeCleanedHeaders(head, forwarding, into);
  writeFraming(head, forwarding.upgrade, into);
  writeIdentifyingHeaders(head, forwarding, into);
}

/** The head of the request to the upstream. Throws `UnwritableHead`. */
export function requestHeadText(startLine: string, head: RequestHead, forwarding: Forwarding): HeadText {
  const writer = new HeadWriter(startLine);
  writeRequestHeaders(head, forwarding, writer);
  return writer.finish() ?? headText(startLine, requestFields(head, forwarding));
}

/** The fields of the request to the upstream, names and values in turn. */
export function requestFields(head: RequestHead, forwarding: Forwarding): string[] {
  const list = new FieldList();
  writeRequestHeaders(head, forwarding, list);
  return list.fields;
}

/** Collects the {@link Forwarding} of an exchange to the upstream of `route`; a preflight carries no credentials. */
export function forwardingOf(
  exchange: Exchange,
  route: ForwardingRoute,
  principal: Principal | null,
  preflight: boolean,
  upgrade: string | null,
  rules: Pick<Forwarding, 'ownCookies' | 'via'>,
): Forwarding {
  const { head, connection } = exchange;
  const { upstream } = route;
  return {
    identity: principal === null ? null : route.identityHeadersOf(principal),
    fixed: preflight ? null : route.fixedHeaders,
    host: upstream.host ?? (head.host === '' ? upstream.authority : head.host),
    requestId: exchange.id,
    peer: connection.peer,
    encrypted: connection.encrypted,
    fromTrustedProxy: exchange.fromTrustedProxy,
    passedMeaning: route.passedMeaning,
    ownCookies: rules.ownCookies,
    passesAuthorization: exchange.passesAuthorization,
    passesApiKey: exchange.passesApiKey,
    withoutCredentials: preflight,
    upgrade,
    traceparent: exchange.trace?.traceparent ?? traceparentFor(head),
    via: rules.via,
    strippedPrefix: route.strippedPrefix,
  };
}

/** The part of a {@link Forwarding} that decides which of the client's headers pass. */
type PassingRules = Pick<
  Forwarding,
  'passedMeaning' | 'ownCookies' | 'passesAuthorization' | 'passesApiKey' | 'withoutCredentials'
>;

/**
 * Step 5 of the request path, clean: writes the client's headers that an upstream may see, in order and without Postern's own
 * cookies and subprotocols. Headers that `Connection` names are removed, whatever they mean.
 */
export function writeCleanedHeaders(head: RequestHead, rules: PassingRules, into: FieldSink): void {
  const { raw, connectionNames } = head;
  const { passedMeaning, withoutCredentials } = rules;
  for (let i = 0; i < raw.length; i += 2) {
    const name = raw[i]!;
    // Browsers send no method override with a preflight; it could run another method's handler unauthenticated.
    if (withoutCredentials && meaningOf(name) === meaning.methodOverride) continue;
    const value = passedValue(passedMeaning(name), raw[i + 1]!, head, rules);
    if (value === undefined) continue;
    if (connectionNames === null || !connectionNames.has(normalisedName(name))) into.add(name, value);
  }
}

function passedValue(
  what: Meaning,
  value: string,
  head: RequestHead,
  rules: PassingRules,
): string | undefined {
  switch (what) {
    case meaning.plain:
    case meaning['content-type']:
    case meaning['user-agent']:
    case meaning.origin:
    case meaning['sec-fetch-site']:
    case meaning['sec-fetch-mode']:
    case meaning['sec-fetch-dest']:
    case meaning['sec-purpose']:
    case meaning.accept:
    case meaning['service-worker']:
    case meaning['access-control-request-method']:
      return value;
    case meaning.authorization:
      return rules.passesAuthorization ? value : undefined;
    case meaning['x-api-key']:
      return rules.passesApiKey ? value : undefined;
    case meaning.cookie:
      return rules.withoutCredentials ? undefined : withoutCookies(value, rules.ownCookies) || undefined;
    case meaning['sec-websocket-protocol']:
      return withoutOwnProtocols(value) || undefined;
    case meaning.tracestate:
      // It belongs to the caller's trace, and is meaningless in a new one (W3C Trace Context §4.3).
      return traceparentOf(head) === null ? undefined : value;
    default:
      return undefined;
  }
}

/** Writes the framing of the body and the requested protocol, which are never copied from the client. */
function writeFraming(head: RequestHead, upgrade: string | null, into: FieldSink): void {
  const { isChunked, length } = head.framing;
  if (isChunked) into.add('Transfer-Encoding', 'chunked');
  else if (length >= 0) into.add('Content-Length', String(length));
  if (upgrade === null) return;
  into.add('Connection', 'Upgrade');
  into.add('Upgrade', upgrade);
}

/**
 * Step 6 of the request path, identify: writes who is calling, from where, and the ids that trace the request; and the upstream's
 * fixed headers, after the client's of the same name have been dropped.
 */
export function writeIdentifyingHeaders(head: RequestHead, forwarding: Forwarding, into: FieldSink): void {
  const { identity, fixed, peer, fromTrustedProxy } = forwarding;
  if (identity !== null) into.addBlock(identity);
  if (fixed !== null) into.addBlock(fixed);
  into.add('X-Request-Id', forwarding.requestId);
  const trustsFor = fromTrustedProxy && head.forwardedFor !== '';
  into.add('X-Forwarded-For', trustsFor ? `${head.forwardedFor}, ${peer}` : peer);
  const trustsProto = fromTrustedProxy && head.forwardedProto !== '';
  into.add('X-Forwarded-Proto', trustsProto ? head.forwardedProto : forwarding.encrypted ? 'https' : 'http');
  into.add('traceparent', forwarding.traceparent);
  into.add('Postern-Via', head.via === '' ? forwarding.via : `${head.via}, ${forwarding.via}`);
  const host = fromTrustedProxy && head.forwardedHost !== '' ? head.forwardedHost : head.host;
  // HTTP/1.0 does not require one.
  if (host !== '') into.add('X-Forwarded-Host', host);
  if (forwarding.strippedPrefix !== '') into.add('X-Forwarded-Prefix', forwarding.strippedPrefix);
}

/** The `traceparent` to send when Postern records no span of its own: the client's, or a new one. */
export function traceparentFor(head: RequestHead): string {
  return traceparentOf(head) ?? newTraceparent();
}

/** The client's `traceparent` in version 00; null unless it was given exactly once and is well-formed. */
export function traceparentOf(head: RequestHead): string | null {
  return head.traceparentCount === 1 ? acceptTraceparent(head.traceparent) : null;
}

const idBytes = 24;
const randomPool = Buffer.alloc(idBytes * 256);
let poolOffset = randomPool.length;

/** A `traceparent` that starts a new trace, not sampled because no caller asked for that. */
function newTraceparent(): string {
  if (poolOffset === randomPool.length) {
    randomFillSync(randomPool);
    poolOffset = 0;
  }
  const hex = randomPool.toString('hex', poolOffset, poolOffset + idBytes);
  poolOffset += idBytes;
  return `00-${hex.slice(0, 32)}-${hex.slice(32)}-00`;
}
