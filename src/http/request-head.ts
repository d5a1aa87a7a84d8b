import { Refusal } from '../errors.ts';
import { hasBody, type RequestFraming, requestFraming } from '../http1/message/request-framing.ts';
import type { Reason } from '../reasons.ts';
import { normalisedName, toolParameterPrefix } from '../rules/known-headers.ts';
import { type Meaning, meaning, meaningOf } from './header-names.ts';

/**
 * The head of a request, read once: the value of each header that Postern acts on and, where repeated fields are refused, their
 * number. If a header isn't a list, the last field's value is kept.
 */
export type RequestHead = Readonly<HeadReading>;

/**
 * Reads the fields of a request, names and values in turn. `framing` defaults to the one that these fields have in HTTP/1.1;
 * `mayBeWebSocket` is true for a GET over HTTP/1.1, the only request that can open a WebSocket (RFC 6455 §4.1).
 */
export function readRequestHead(
  raw: readonly string[],
  framing: RequestFraming = requestFraming(1, raw),
  mayBeWebSocket = false,
): RequestHead {
  return new HeadReading(raw, framing, mayBeWebSocket);
}

class HeadReading {
  /** Names and values in turn, exactly as received. */
  readonly raw: readonly string[];
  readonly framing: RequestFraming;
  readonly mayBeWebSocket: boolean;
  host = '';
  hostCount = 0;
  authorization = '';
  authorizationCount = 0;
  apiKey = '';
  apiKeyCount = 0;
  contentType = '';
  contentTypeCount = 0;
  requestId = '';
  requestIdCount = 0;
  upgrade = '';
  upgradeCount = 0;
  traceparent = '';
  traceparentCount = 0;
  origin = '';
  originCount = 0;
  requestMethod = '';
  requestMethodCount = 0;
  forwardedProto = '';
  forwardedHost = '';
  forwardedHostCount = 0;
  userAgent = '';
  /** The values of all `Expect` fields, joined with `, `, as in each text below except `cookie`. */
  expect = '';
  forwardedFor = '';
  webSocketProtocols = '';
  /** Repeated fields give a list, which equals none of the values that are trusted. */
  secFetchSite = '';
  secFetchMode = '';
  secFetchDest = '';
  secPurpose = '';
  accept = '';
  serviceWorker = '';
  /** `Postern-Via`: the names of the gateways that the request has passed through. */
  via = '';
  /** Fields are joined with `; `: HTTP/1.1 clients send only one (RFC 6265 §5.4), but HTTP/2 front ends may split it. */
  cookie = '';
  /** True if a header `Mcp-Param-*` has a character other than letters, digits and `-` in its name. */
  hasOddToolParameter = false;
  /** True if there is a header that is dropped, or that is dropped unless the configuration lets it pass. */
  hasDroppable = false;
  /** Normalised names that `Connection` lists besides `close` and `keep-alive`; null if there are none. */
  connectionNames: Set<string> | null = null;

  constructor(raw: readonly string[], framing: RequestFraming, mayBeWebSocket: boolean) {
    this.raw = raw;
    this.framing = framing;
    this.mayBeWebSocket = mayBeWebSocket;
    for (let i = 0; i < raw.length; i += 2) {
      const what = meaningOf(raw[i]!);
      if (what !== meaning.plain) this.#read(what, raw[i + 1]!);
    }
  }

  get hasBody(): boolean {
    return hasBody(this.framing);
  }

  /** Stores the value of a field, on a hot path: a switch over small integers is a single jump, whatever the header. */
  #read(what: Meaning, value: string): void {
    switch (what) {
      case meaning.host:
        this.host = value;
        this.hostCount++;
        break;
      case meaning.authorization:
        this.authorization = value;
        this.authorizationCount++;
        break;
      case meaning['x-api-key']:
        this.apiKey = value;
        this.apiKeyCount++;
        break;
      case meaning['content-type']:
        this.contentType = value;
        this.contentTypeCount++;
        break;
      case meaning['x-request-id']:
        this.requestId = value;
        this.requestIdCount++;
        break;
      case meaning.upgrade:
        this.upgrade = value;
        this.upgradeCount++;
        break;
      case meaning.traceparent:
        this.traceparent = value;
        this.traceparentCount++;
        break;
      case meaning.origin:
        this.origin = value;
        this.originCount++;
        break;
      case meaning['access-control-request-method']:
        this.requestMethod = value;
        this.requestMethodCount++;
        break;
      case meaning['x-forwarded-proto']:
        this.forwardedProto = value;
        break;
      case meaning['x-forwarded-host']:
        this.forwardedHost = value;
        this.forwardedHostCount++;
        break;
      case meaning['user-agent']:
        this.userAgent = value;
        break;
      default:
        this.#readList(what, value);
    }
  }

  /** Adds the value of a field to its header's list (RFC 9110 §5.3). */
  #readList(what: Meaning, value: string): void {
    switch (what) {
      case meaning.connection:
        if (value !== 'keep-alive') this.#readConnection(value);
        break;
      case meaning.cookie:
        this.cookie = joined(this.cookie, '; ', value);
        break;
      case meaning.expect:
        this.expect = joined(this.expect, ', ', value);
        break;
      case meaning['x-forwarded-for']:
        this.forwardedFor = joined(this.forwardedFor, ', ', value);
        break;
      case meaning['sec-websocket-protocol']:
        this.webSocketProtocols = joined(this.webSocketProtocols, ', ', value);
        break;
      case meaning['sec-fetch-site']:
        this.secFetchSite = joined(this.secFetchSite, ', ', value);
        break;
      case meaning['sec-fetch-mode']:
        this.secFetchMode = joined(this.secFetchMode, ', ', value);
        break;
      case meaning['sec-fetch-dest']:
        this.secFetchDest = joined(this.secFetchDest, ', ', value);
        break;
      case meaning['sec-purpose']:
        this.secPurpose = joined(this.secPurpose, ', ', value);
        break;
      case meaning.accept:
        this.accept = joined(this.accept, ', ', value);
        break;
      case meaning['service-worker']:
        this.serviceWorker = joined(this.serviceWorker, ', ', value);
        break;
      case meaning['postern-via']:
        this.via = joined(this.via, ', ', value);
        break;
      case meaning.oddToolParameter:
        this.hasOddToolParameter = true;
        break;
      case meaning.dropped:
      case meaning.odd:
        this.hasDroppable = true;
        break;
    }
  }

  #readConnection(value: string): void {
    for (const part of value.split(',')) {
      const name = normalisedName(part.trim());
      if (name === '' || name === 'close' || name === 'keep-alive') continue;
      this.connectionNames ??= new Set();
      this.connectionNames.add(name);
    }
  }
}

function joined(list: string, separator: string, value: string): string {
  return list === '' ? value : list + separator + value;
}

/** Headers that `Connection` must not list, because a proxy removes the headers listed there. */
const notHopByHop = [
  'host',
  'content-length',
  'content-type',
  'cookie',
  'authorization',
  'x-api-key',
] as const;

/** A valid `Host`: `reg-name`, IPv4 or bracketed IPv6, with an optional port (RFC 9110 §7.2); no userinfo, list or whitespace. */
const hostValue =
  /^(?:[A-Za-z0-9._~!$&'()*+;=-]|%[0-9A-Fa-f]{2})+(?::\d{0,5})?$|^\[[0-9A-Fa-f:.]+\](?::\d{0,5})?$/;

/** The last host found valid, which needn't be checked again: most requests name the same one. */
let lastHost = 'localhost';

/**
 * Refuses a request whose framing, host or headers an upstream could read differently (RFC 9112 §3.2, §6.1, §6.3, §11.2). Throws
 * `bad_request`, which closes the connection.
 */
export function assertUnambiguousHead(head: RequestHead, httpMinor: number): void {
  if (head.framing.isAmbiguous) throw malformed('body length is ambiguous');
  if (head.hostCount !== 1 && (httpMinor === 1 || head.hostCount > 1)) throw malformed('host header');
  if (head.hostCount === 1 && head.host !== lastHost) {
    if (head.host.length > 255 || !hostValue.test(head.host)) throw malformed('host header');
    lastHost = head.host;
  }
  if (head.connectionNames !== null)
    for (const name of notHopByHop) if (head.connectionNames.has(name)) throw malformed('connection header');
  if (head.hasOddToolParameter && hasToolParametersAlike(head.raw)) throw malformed('header name');
}

/** True if servers that fold names (CGI, WSGI) could take two different headers `Mcp-Param-*` for the same one. */
function hasToolParametersAlike(raw: readonly string[]): boolean {
  const spellings = new Map<string, string>();
  for (let i = 0; i < raw.length; i += 2) {
    const name = raw[i]!.toLowerCase();
    if (!name.startsWith(toolParameterPrefix)) continue;
    const folded = normalisedName(name);
    const other = spellings.get(folded);
    if (other !== undefined && other !== name) return true;
    spellings.set(folded, name);
  }
  return false;
}

function malformed(reason: Reason): Refusal {
  return new Refusal('bad_request', { close: true, reason });
}

/** Refuses a request that has already passed through the gateway named `own`. Throws `loop_detected`. */
export function assertNoLoop({ via }: Pick<RequestHead, 'via'>, own: string): void {
  // No client can guess the name, so a request that carries it has been here.
  if (via !== '' && via.includes(own)) throw new Refusal('loop_detected');
}

/** True if the client's request id may appear in responses and logs: it is given exactly once and is well-formed. */
export function isUsableRequestId(head: RequestHead): boolean {
  return head.requestIdCount === 1 && isRequestId(head.requestId);
}

/** True for 1-128 characters of `[A-Za-z0-9._-]`. */
export function isRequestId(text: string): boolean {
  return /^[A-Za-z0-9._-]{1,128}$/.test(text);
}

/** Methods that `Allow` lists when a method is refused before a path is matched. */
const servedMethods = ['GET', 'HEAD', 'POST', 'PUT', 'PATCH', 'DELETE', 'OPTIONS'] as const;

/** Refuses TRACE and CONNECT, which no path serves, before the target is checked. Throws `method_not_allowed`. */
export function assertMethodIsServed(method: string): void {
  if (method === 'TRACE' || method === 'CONNECT')
    throw new Refusal('method_not_allowed', { allow: servedMethods, close: method === 'CONNECT' });
}

/** Refuses an expectation other than `100-continue` in HTTP/1.1 (RFC 9110 §10.1.1). Throws `expectation_failed`. */
export function assertKnownExpectation(head: RequestHead, minor: number): void {
  if (head.expect !== '' && minor === 1 && head.expect.toLowerCase() !== '100-continue')
    throw new Refusal('expectation_failed');
}
