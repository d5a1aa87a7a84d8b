import type { Duplex } from 'node:stream';
import type { HeadText } from './head-text.ts';
import type { UpstreamError } from './upstream-error.ts';

/** What a request does with the connection that carries it. */
export interface RequestConnection {
  /** Sends bytes of the body, in the framing the head announced; false when the upstream does not keep up. */
  write(bytes: Buffer): boolean;
  /** The body is complete. */
  endBody(): void;
  pause(): void;
  resume(): void;
  /** Ends it at once; its request is told nothing. */
  destroy(): void;
}

/** One of the connections of a pool: carries one request at a time. */
export interface PooledConnection extends RequestConnection {
  /** Carries the request; only when free. */
  send(request: UpstreamRequest): void;
  /** Whether it has been free for longer than the upstream can be expected to keep it. */
  isStale(now: number): boolean;
  /** Fails the request if it has waited too long; `now` as by `performance.now()`. */
  checkTime(now: number): void;
}

/** Who owns connections and is told when one is free or gone. */
export interface ConnectionOwner {
  onFree(connection: PooledConnection): void;
  onGone(connection: PooledConnection): void;
}

/** How long a free connection is kept when the upstream says nothing: less than common servers wait (5 s). */
export const defaultKeepAliveMs = 4_000;

/** One request on its way to an upstream, told what comes of it. Exactly one of `onEnd` and `onError` ends it. */
export interface UpstreamRequest {
  /** The connection that carries it, once there is one; set by the connection. */
  connection: RequestConnection | null;
  /** When it began to wait for a connection, as by `performance.now()`; set by the pool. */
  waitingSince: number;
  /** When a connection first took it, as by `performance.now()`; 0: none has. Set by the connection. */
  takenAt: number;
  readonly method: string;
  readonly target: string;
  /** Names and values in turn. */
  readonly fields: readonly string[];
  /** The head of that method, target and those fields. */
  readonly headText: HeadText;
  readonly chunked: boolean;
  readonly hasBody: boolean;
  /** Some of the body has yet to come from the client. */
  readonly isUploading: boolean;
  /** The protocol asked for in lower case; null: none. */
  readonly upgrade: string | null;
  readonly connectTimeoutMs: number;
  readonly responseTimeoutMs: number;
  readonly idleTimeoutMs: number;
  /** The head has been written: the body may follow. */
  onSent(): void;
  /** The upstream takes more of the body after a `write` that gave false. */
  onDrain(): void;
  onInterim(status: number, fields: string[]): void;
  /** `length` in bytes, -1 when it isn't known beforehand. */
  onHead(status: number, fields: string[], length: number): void;
  onData(chunk: Buffer): void;
  onEnd(trailers: string[]): void;
  /** The upstream agreed to `upgrade`: the connection and what came after its response are the request's own now. */
  onSwitch(fields: string[], socket: Duplex, bytes: Buffer): void;
  onError(error: UpstreamError): void;
}
