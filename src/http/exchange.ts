import { randomUUID } from 'node:crypto';
import type { Refusal } from '../errors.ts';
import type { FieldBlock } from '../http1/message/head-text.ts';
import type { RequestHeadText } from '../http1/message/message-head.ts';
import type { RequestChannel, ResponseWriter, ServerExchange } from '../http1/server/connection-options.ts';
import type { BodyReader } from '../http1/server/incoming-body.ts';
import type { Reason } from '../reasons.ts';
import type { RequestTrace } from '../tracing/request-trace.ts';
import { isUsableRequestId, type RequestHead } from './request-head.ts';
import { queryStart } from './request-target.ts';

/** Creates the exchange of a request whose head has been read. */
export type CreateExchange = (
  channel: RequestChannel,
  response: ResponseWriter,
  head: RequestHead,
  text: RequestHeadText,
) => Exchange;

/** What the access line and the open-stream registry need to know of the caller. */
export interface Caller {
  readonly kind: 'session' | 'api_key';
  readonly userId: string;
  readonly credentialId: string;
}

/** Where and how an upstream failed, for the log. */
export interface UpstreamFailureDetail {
  /** Its name in the configuration. */
  readonly upstream: string;
  /** Host and port, or the path of its socket. */
  readonly address: string;
  /** The code of the system or TLS error; empty when there was none. */
  readonly errno: string;
  readonly phase: 'queue' | 'lookup' | 'connect' | 'tls' | 'response_head' | 'response_body';
}

/**
 * What serves an exchange. An object, not a function: with a function made for each request V8 took whatever the requests
 * referred to for long-lived, and collections of new objects took three times as long.
 */
export interface ExchangeOwner {
  /** Called once when the exchange is over, however it ended. */
  onClose(): void;
}

/**
 * One request and its response, with everything known about it so far. On a listener for decisions method and target are
 * those of the request that it describes.
 */
export class Exchange implements ServerExchange {
  readonly connection: RequestChannel;
  readonly response: ResponseWriter;
  readonly head: RequestHead;
  readonly method: string;
  /** The request target as received. */
  readonly target: string;
  /** 0 or 1, of HTTP/1.x. */
  readonly minor: number;
  /** Index of `?` in the target, or its length. */
  readonly pathEnd: number;
  readonly path: string;
  readonly id: string;
  /** Whether the peer's `X-Forwarded-*` are trusted. */
  readonly fromTrustedProxy: boolean;
  /** Address of the client: the right-most one that isn't a trusted proxy; empty if it isn't known. */
  readonly address: string;
  /** Why it is refused before anything is judged: its peer or its description is no good. */
  readonly unfit: Refusal | null;
  /** The target has been checked and isn't malformed; a malformed one may contain anything, even secrets. */
  targetIsGood = false;
  /** When the head had been read, by `performance.now()`. */
  readonly startedMs = performance.now();
  /** When a connection to an upstream took it, by `performance.now()`; 0: none did. Set when it is over. */
  takenAt = 0;
  /** The configured path of the route or the pattern of the own endpoint, for log and metrics. */
  route = '';
  /** `ok`, a refusal's code, or what else ended it. */
  outcome = 'ok';
  /** Why it was refused or failed; empty when it wasn't. */
  reason: Reason | '' = '';
  /** What the upstream did wrong, for the log. */
  upstreamFailure: UpstreamFailureDetail | null = null;
  caller: Caller | null = null;
  /** It is on a route whose browsers may be signed in by the web cookie. */
  isOnBrowserRoute = false;
  /** The web cookie admitted it, so that no cache may keep the response for another browser. */
  isByWebCookie = false;
  /** Headers of the response, whoever makes it: names and values in turn. */
  responseFields: readonly string[] = [];
  /** Its spans; null if no traces are exported. */
  trace: RequestTrace | null = null;
  bytesIn = 0;
  /** The client is waiting for `100 Continue` (RFC 9110 §10.1.1); cleared once that has been sent. */
  expectsContinue: boolean;
  /** Called when the client keeps up again, after a `write` that returned false. */
  onDrain: (() => void) | null = null;
  /** What serves it. */
  owner: ExchangeOwner | null = null;
  /** Called last of all. */
  onOver: (() => void) | null = null;

  constructor(
    connection: RequestChannel,
    response: ResponseWriter,
    head: RequestHead,
    { method, target, minor }: Pick<RequestHeadText, 'method' | 'target' | 'minor'>,
    address: string,
    fromTrustedProxy: boolean,
    unfit: Refusal | null = null,
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
    this.expectsContinue = minor === 1 && head.expect.toLowerCase() === '100-continue';
  }

  /** The query without `?`, as received. */
  get query(): string {
    return this.target.slice(this.pathEnd + 1);
  }

  /** Whether the request body has been read to its end, or there is none. */
  get bodyDone(): boolean {
    return this.connection.bodyDone;
  }

  /** Reads the body, after asking a waiting client to send it. */
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

  /** Sends bytes of the response's body; after false, wait for `onDrain`. */
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

  /** Closes the connection after this response, because what follows on it can't be trusted. */
  closeAfterResponse(): void {
    this.response.closes = true;
  }

  /** Whether the client has disconnected. */
  get isGone(): boolean {
    return this.connection.socket.destroyed;
  }

  /** The connection was lost before the exchange was over. */
  onConnectionLost(): void {
    if (this.outcome === 'ok' && !this.response.ended) this.outcome = 'client_aborted';
  }

  /** Resets the connection, so that a truncated response can't look complete. `outcome` says why. */
  reset(outcome: string): void {
    this.outcome = outcome;
    this.connection.reset();
  }
}
