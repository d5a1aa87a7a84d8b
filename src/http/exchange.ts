import { randomUUID } from 'node:crypto';
import type { RequestChannel, ResponseWriter, ServerExchange } from '../http1/connection-options.ts';
import type { BodyReader } from '../http1/incoming-body.ts';
import type { RequestHeadText } from '../http1/message-head.ts';
import type { RequestTrace } from '../tracing/request-trace.ts';
import { clientAddress, type TrustedProxies } from './client-address.ts';
import { isUsableRequestId, type RequestHead } from './request-head.ts';
import { queryStart } from './request-target.ts';

/** What the access line and the open-stream registry need to know of the caller. */
export interface Caller {
  readonly kind: 'session' | 'api_key';
  readonly userId: string;
  readonly credentialId: string;
}

/** One request and its response on the public listener, with what is known of it so far. */
export class Exchange implements ServerExchange {
  readonly connection: RequestChannel;
  readonly response: ResponseWriter;
  readonly head: RequestHead;
  readonly method: string;
  /** The request target as it came. */
  readonly target: string;
  /** 0 or 1, of HTTP/1.x. */
  readonly minor: number;
  /** Index of `?` in the target, or its length. */
  readonly pathEnd: number;
  readonly path: string;
  readonly id: string;
  /** Whether the peer's `X-Forwarded-*` count. */
  readonly fromTrustedProxy: boolean;
  /** Address of the client: the right-most that is no trusted proxy. */
  readonly address: string;
  /** The target has been judged and is none that was refused as malformed: what is not may hold anything, secrets too. */
  targetIsGood = false;
  /** `performance.now()` when the head had been read. */
  readonly startedMs = performance.now();
  /** `performance.now()` when a connection to an upstream took it; 0: none did. Known once it is over. */
  takenAt = 0;
  /** The configured path of the route or the pattern of the own endpoint, for log and metrics. */
  route = '';
  /** `ok`, a refusal's code, or what else ended it. */
  outcome = 'ok';
  caller: Caller | null = null;
  /** Its spans; null: nobody is to see them. */
  trace: RequestTrace | null = null;
  bytesIn = 0;
  /** The client waits for `100 Continue` (RFC 9110 §10.1.1); cleared once it was told. */
  expectsContinue: boolean;
  /** The client keeps up again after a `write` that gave false. */
  onDrain: (() => void) | null = null;
  /** What works for this exchange, told once when it is over, however it ended. */
  onClose: (() => void) | null = null;
  /** Whoever answers it, told last of all. */
  onOver: (() => void) | null = null;

  constructor(
    connection: RequestChannel,
    response: ResponseWriter,
    head: RequestHead,
    { method, target, minor }: RequestHeadText,
    proxies: TrustedProxies,
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
    const { peer } = connection;
    this.fromTrustedProxy = proxies.isTrusted(peer);
    this.address = this.fromTrustedProxy ? clientAddress(peer, head.forwardedFor, proxies) : peer;
    this.expectsContinue = minor === 1 && head.expect.toLowerCase() === '100-continue';
  }

  /** The query without `?`, as it came. */
  get query(): string {
    return this.target.slice(this.pathEnd + 1);
  }

  /** Whether the request body has been read to its end, or there is none. */
  get bodyDone(): boolean {
    return this.connection.bodyDone;
  }

  /** Reads the body, telling a waiting client to send it. */
  readBody(reader: BodyReader): void {
    if (this.expectsContinue) {
      this.expectsContinue = false;
      if (!this.bodyDone) this.response.inform(100);
    }
    this.connection.read(reader);
  }

  /** Starts the response: see {@link ResponseWriter.begin}. */
  begin(status: number, fields: readonly string[], length: number): void {
    // A client that waits to be told, and is answered instead, may send the body or may not (RFC 9110 §10.1.1).
    if (this.expectsContinue && !this.bodyDone) this.response.closes = true;
    this.response.begin(status, fields, length);
  }

  /** Sends bytes of the response's body; on false, `onDrain` tells when to go on. */
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

  /** What follows on the connection can't be trusted: it ends with this response. */
  distrust(): void {
    this.response.closes = true;
  }

  /** Whether there is nobody left to answer. */
  get isGone(): boolean {
    return this.connection.socket.destroyed;
  }

  /** The connection went away under it. */
  gone(): void {
    if (this.outcome === 'ok' && !this.response.ended) this.outcome = 'client_aborted';
  }

  /** Ends the connection without a proper end of the response: never a body that looks complete. */
  reset(outcome: string): void {
    this.outcome = outcome;
    this.connection.reset();
  }
}
