import { randomUUID } from 'node:crypto';
import type { Principal } from '../credentials/principal.ts';
import type { Refusal } from '../errors.ts';
import type { FieldBlock } from '../http1/message/head-text.ts';
import type { RequestHeadText } from '../http1/message/message-head.ts';
import type { RequestChannel, ResponseWriter, ServerExchange } from '../http1/server/connection-options.ts';
import type { BodyReader } from '../http1/server/incoming-body.ts';
import type { Reason } from '../reasons.ts';
import type { RequestTrace } from '../tracing/request-trace.ts';
import type { Challenge } from './challenge.ts';
import type { NamedHost } from './named-hosts.ts';
import type { OtherName } from './other-name.ts';
import type { RemovedHeaders } from './removed-headers.ts';
import { isUsableRequestId, type RequestHead } from './request-head.ts';
import { queryStart } from './request-target.ts';

/** Creates the exchange of a request whose head has been read. */
export type CreateExchange = (
  channel: RequestChannel,
  response: ResponseWriter,
  head: RequestHead,
  text: RequestHeadText,
) => Exchange;

/** The caller, as the access line and the registry of open streams know it. */
export type Caller = Pick<Principal, 'kind' | 'userId' | 'credentialId'>;

/** Details of an upstream's failure, for the log. */
export interface UpstreamFailureDetail {
  readonly upstream: string;
  /** Host and port, or the path of the upstream's socket. */
  readonly address: string;
  /** The code of the system or TLS error; empty when there was none. */
  readonly errno: string;
  readonly phase: 'queue' | 'lookup' | 'connect' | 'tls' | 'response_head' | 'response_body';
}

/**
 * The code that serves an exchange. An object, not a closure: with one closure per request, V8 treated requests' objects as
 * long-lived, and garbage collections of the young generation took three times as long.
 */
export interface ExchangeOwner {
  /** Called once when the exchange is over, however it ended. */
  onClose(): void;
}

/** The parts of a request that its refusal depends on, taken from an {@link Exchange} or read from an incomplete head. */
export type RefusedRequest = Pick<
  Exchange,
  | 'id'
  | 'method'
  | 'target'
  | 'path'
  | 'query'
  | 'head'
  | 'address'
  | 'fromTrustedProxy'
  | 'describedHost'
  | 'host'
  | 'namedHost'
  | 'route'
  | 'isOnBrowserRoute'
  | 'leavesCors'
  | 'challenge'
  | 'passesAuthorization'
  | 'passesApiKey'
  | 'otherName'
>;

/**
 * A request and its response, with everything known about them so far. On a decision listener, method and target are those of the
 * request that the proxy describes.
 */
export class Exchange implements ServerExchange {
  readonly connection: RequestChannel;
  readonly response: ResponseWriter;
  readonly head: RequestHead;
  readonly method: string;
  /** The request target as received. */
  readonly target: string;
  /** The minor version of HTTP/1.x, 0 or 1. */
  readonly minor: number;
  /** Index of `?` in the target, or its length. */
  readonly pathEnd: number;
  readonly path: string;
  readonly id: string;
  /** True if the peer's `X-Forwarded-*` are trusted. */
  readonly fromTrustedProxy: boolean;
  /** Address of the client: the right-most one that isn't a trusted proxy; empty if it isn't known. */
  readonly address: string;
  /** The host of the request that a proxy described; null: none was described, or none is read. */
  readonly describedHost: string | null;
  /** The host that the request is for, with its port, as it was sent: `Host` unless the configuration has `hosts`. */
  host: string;
  /** The entry of `hosts` that the request is for; null: none. */
  namedHost: NamedHost | null = null;
  /** The refusal, if the peer or its description of a request is unacceptable; null: the request is judged. */
  readonly unfit: Refusal | null;
  /** True once the target has been checked; before that, it isn't logged, because it may contain anything, even secrets. */
  targetIsGood = false;
  /** Time when the head had been read completely, by `performance.now()`. */
  readonly startedMs = performance.now();
  /** Time when an upstream connection took the request, by `performance.now()`, minus the time its body was held; 0: none did. */
  takenAt = 0;
  /** The configured path of the route or the pattern of the built-in endpoint, for log and metrics; empty while unknown. */
  route = '';
  /** `ok`, a refusal's code, or another reason for an early end. */
  outcome = 'ok';
  reason: Reason | '' = '';
  upstreamFailure: UpstreamFailureDetail | null = null;
  /** The name that explains the refusal, if it isn't Postern's own. */
  otherName: OtherName | null = null;
  /** Headers of the client's that were removed before the request was forwarded; null: none, or none that the log counts. */
  removed: RemovedHeaders | null = null;
  caller: Caller | null = null;
  /** True on a route where the web cookie may identify the caller. */
  isOnBrowserRoute = false;
  /** True on a route whose upstream has CORS of its own: Postern adds none to its responses. */
  leavesCors = false;
  /** The schemes that a 401 names, by the route. */
  challenge: Challenge = 'bearer';
  /** True if the request's `Authorization` is the application's own, and is forwarded as it came. */
  passesAuthorization = false;
  /** True if the request's `X-API-Key` is the application's own, and is forwarded as it came. */
  passesApiKey = false;
  /** True if an API key was sent by Basic: shared caches must not keep the response, as for `X-API-Key`. */
  isByBasic = false;
  /** True if the web cookie admitted the request: no cache may keep the response for another browser. */
  isByWebCookie = false;
  /** Further headers of the response, Postern's or an upstream's: names and values in turn. */
  responseFields: readonly string[] = [];
  trace: RequestTrace | null = null;
  bytesIn = 0;
  /** True while the client is waiting for `100 Continue` (RFC 9110 §10.1.1). */
  expectsContinue: boolean;
  /** Called when the client keeps up again, after a `write` that returned false. */
  onDrain: (() => void) | null = null;
  owner: ExchangeOwner | null = null;
  /** Called last of all, once the exchange has been recorded. */
  onOver: (() => void) | null = null;

  constructor(
    connection: RequestChannel,
    response: ResponseWriter,
    head: RequestHead,
    { method, target, minor }: Pick<RequestHeadText, 'method' | 'target' | 'minor'>,
    address: string,
    fromTrustedProxy: boolean,
    unfit: Refusal | null = null,
    describedHost: string | null = null,
  ) {
    this.connection = connection;
    this.response = response;
    this.head = head;
    this.method = method;
    this.target = target;
    this.minor = minor;
    this.pathEnd = queryStart(target);
    this.path = this.pathEnd === target.length ? target : target.slice(0, this.pathEnd);
    this.id = isUsableRequestId(head) ? head.requestId : randomUUID();
    this.address = address;
    this.fromTrustedProxy = fromTrustedProxy;
    this.unfit = unfit;
    this.describedHost = describedHost;
    this.host = describedHost ?? head.host;
    this.expectsContinue = minor === 1 && head.expect.toLowerCase() === '100-continue';
  }

  /** The query without `?`, as received. */
  get query(): string {
    return this.target.slice(this.pathEnd + 1);
  }

  get bodyDone(): boolean {
    return this.connection.bodyDone;
  }

  /** Reads the body, after sending `100 Continue` to a client that waits for it. */
  readBody(reader: BodyReader): void {
    if (this.expectsContinue) {
      this.expectsContinue = false;
      if (!this.bodyDone) this.response.sendInterim(100);
    }
    this.connection.read(reader);
  }

  /** Starts the response, see {@link ResponseWriter.begin}. */
  begin(status: number, fields: readonly string[], length: number, block: FieldBlock | null = null): void {
    // A client that awaits 100 and gets a final response may or may not send the body (RFC 9110 §10.1.1).
    if (this.expectsContinue && !this.bodyDone) this.response.closes = true;
    this.response.begin(status, fields, length, block);
  }

  /** Sends bytes of the response's body; returns false if the caller should wait for `onDrain`. */
  write(bytes: Buffer): boolean {
    if (this.response.write(bytes)) return true;
    this.connection.waitForDrain();
    return false;
  }

  /** Ends the response; the exchange is over. */
  end(bytes?: Buffer, trailers?: readonly string[]): void {
    this.response.end(bytes, trailers);
    this.connection.finished(this);
  }

  /** Makes the connection close after this response. */
  closeAfterResponse(): void {
    this.response.closes = true;
  }

  get isGone(): boolean {
    return this.connection.socket.destroyed;
  }

  onConnectionLost(): void {
    if (this.outcome === 'ok' && !this.response.ended) this.outcome = 'client_aborted';
  }

  /** Resets the connection, so that a truncated response can't look complete. `outcome` says why. */
  reset(outcome: string): void {
    this.outcome = outcome;
    this.connection.reset();
  }
}
