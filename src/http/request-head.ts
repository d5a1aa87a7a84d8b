import { Refusal } from '../errors.ts';
import { hasBody, type RequestFraming, requestFraming } from '../http1/request-framing.ts';
import { normalisedName } from '../rules/known-headers.ts';
import { meaning, meaningOf } from './header-names.ts';

/**
 * The head of a request, read once: every header that Postern judges, with how often it came. A header that came
 * several times holds its last value; whoever minds asks for the count.
 */
export class RequestHead {
  /** Names and values in turn, as they came. */
  readonly raw: readonly string[];
  /** Where its body ends. */
  readonly framing: RequestFraming;
  host = '';
  authorization = '';
  authorizationCount = 0;
  apiKey = '';
  apiKeyCount = 0;
  contentType = '';
  contentTypeCount = 0;
  requestId = '';
  requestIdCount = 0;
  expect = '';
  upgrade = '';
  upgradeCount = 0;
  /** A GET of HTTP/1.1: what a WebSocket begins with (RFC 6455 §4.1). */
  mayBeWebSocket = false;
  /** All `Sec-WebSocket-Protocol` values, joined. */
  webSocketProtocols = '';
  traceparent = '';
  traceparentCount = 0;
  origin = '';
  originCount = 0;
  /** All values, joined: two of them are none that vouches for anything. */
  secFetchSite = '';
  /** All values, joined. */
  secPurpose = '';
  requestMethod = '';
  requestMethodCount = 0;
  userAgent = '';
  /** All `X-Forwarded-For` values, joined. */
  forwardedFor = '';
  forwardedProto = '';
  forwardedHost = '';
  /** All `Cookie` values, joined with `; ` (RFC 9112 §5.2 has one; HTTP/2 front ends split it). */
  cookie = '';
  /** Normalised names that `Connection` lists beside `close` and `keep-alive`; null when there are none. */
  connectionNames: Set<string> | null = null;
  hostCount = 0;

  constructor(raw: readonly string[], framing: RequestFraming = requestFraming(1, raw)) {
    this.raw = raw;
    this.framing = framing;
    for (let i = 0; i < raw.length; i += 2) {
      const what = meaningOf(raw[i]!);
      if (what !== meaning.plain && what < meaning.methodOverride) this.#read(what, raw[i + 1]!);
    }
  }

  /** Whether a body follows the head (RFC 9112 §6.3). */
  get hasBody(): boolean {
    return hasBody(this.framing);
  }

  #read(what: number, value: string): void {
    switch (what) {
      case meaning.host:
        this.host = value;
        this.hostCount++;
        break;
      case meaning.connection:
        if (value !== 'keep-alive') this.#readConnection(value);
        break;
      case meaning.expect:
        this.expect = this.expect === '' ? value : `${this.expect}, ${value}`;
        break;
      case meaning.upgrade:
        this.upgrade = value;
        this.upgradeCount++;
        break;
      case meaning.authorization:
        this.authorization = value;
        this.authorizationCount++;
        break;
      case meaning.apiKey:
        this.apiKey = value;
        this.apiKeyCount++;
        break;
      case meaning.cookie:
        this.cookie = this.cookie === '' ? value : `${this.cookie}; ${value}`;
        break;
      case meaning.requestId:
        this.requestId = value;
        this.requestIdCount++;
        break;
      case meaning.forwardedFor:
        this.forwardedFor = this.forwardedFor === '' ? value : `${this.forwardedFor}, ${value}`;
        break;
      case meaning.forwardedProto:
        this.forwardedProto = value;
        break;
      case meaning.forwardedHost:
        this.forwardedHost = value;
        break;
      case meaning.traceparent:
        this.traceparent = value;
        this.traceparentCount++;
        break;
      case meaning.origin:
        this.origin = value;
        this.originCount++;
        break;
      case meaning.contentType:
        this.contentType = value;
        this.contentTypeCount++;
        break;
      case meaning.secFetchSite:
        this.secFetchSite = this.secFetchSite === '' ? value : `${this.secFetchSite}, ${value}`;
        break;
      case meaning.secPurpose:
        this.secPurpose = this.secPurpose === '' ? value : `${this.secPurpose}, ${value}`;
        break;
      case meaning.requestMethod:
        this.requestMethod = value;
        this.requestMethodCount++;
        break;
      case meaning.userAgent:
        this.userAgent = value;
        break;
      case meaning.webSocketProtocol:
        this.webSocketProtocols =
          this.webSocketProtocols === '' ? value : `${this.webSocketProtocols}, ${value}`;
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

/** Headers that `Connection` must not take away from the upstream. */
const notHopByHop = [
  'host',
  'content-length',
  'content-type',
  'cookie',
  'authorization',
  'x-api-key',
] as const;

/** `reg-name`, IPv4 or bracketed IPv6 with an optional port (RFC 9110 §7.2); no userinfo, list or blank. */
const hostValue =
  /^(?:[A-Za-z0-9._~!$&'()*+;=-]|%[0-9A-Fa-f]{2})+(?::\d{0,5})?$|^\[[0-9A-Fa-f:.]+\](?::\d{0,5})?$/;

/**
 * Refuses what an upstream could frame or address in another way (RFC 9112 §3.2, §6.1, §6.3, §11.2), also where the
 * parser below us already should have.
 *
 * Throws `bad_request`; the connection closes.
 */
export function assertUnambiguousHead(head: RequestHead, httpMinor: number): void {
  if (head.framing.isAmbiguous) throw malformed();
  if (head.hostCount !== 1 && (httpMinor === 1 || head.hostCount > 1)) throw malformed();
  if (head.hostCount === 1 && (head.host.length > 255 || !hostValue.test(head.host))) throw malformed();
  if (head.connectionNames !== null)
    for (const name of notHopByHop) if (head.connectionNames.has(name)) throw malformed();
}

function malformed(): Refusal {
  return new Refusal('bad_request', { close: true });
}

/** 1-128 of `[A-Za-z0-9._-]`, given once: an id that may be taken over into responses and logs. */
export function isUsableRequestId(head: RequestHead): boolean {
  return head.requestIdCount === 1 && /^[A-Za-z0-9._-]{1,128}$/.test(head.requestId);
}

/** Methods named in `Allow` where the path has not been judged. */
const servedMethods = ['GET', 'HEAD', 'POST', 'PUT', 'PATCH', 'DELETE', 'OPTIONS'] as const;

/** Refuses what no path serves, before the target is judged: TRACE and CONNECT. Throws `method_not_allowed`. */
export function assertMethodIsServed(method: string): void {
  if (method === 'TRACE' || method === 'CONNECT')
    throw new Refusal('method_not_allowed', { allow: servedMethods, close: method === 'CONNECT' });
}

/** Refuses an expectation other than `100-continue` (RFC 9110 §10.1.1). Throws `expectation_failed`. */
export function assertKnownExpectation(head: RequestHead, minor: number): void {
  if (head.expect !== '' && minor === 1 && head.expect.toLowerCase() !== '100-continue')
    throw new Refusal('expectation_failed');
}
