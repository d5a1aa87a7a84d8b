import type { Socket } from 'node:net';
import type { Duplex } from 'node:stream';
import type { HeadText } from '../message/head-text.ts';
import type { UpstreamError } from './upstream-error.ts';

/** The connection that carries a request, as the request sees it. */
export interface RequestConnection {
  /**
   * Sends bytes of the body, in the framing that the head announced, and takes the buffer; false if the upstream doesn't keep up.
   */
  write(bytes: Buffer): boolean;
  endBody(): void;
  pause(): void;
  resume(): void;
  /** Closes it at once, without notifying its request. */
  destroy(): void;
}

/** A connection of a pool, as the pool sees it: carries one request at a time. */
export interface PooledConnection extends RequestConnection {
  /** Sends the request; only while free. */
  send(request: UpstreamRequest): void;
  /** True if the connection has been free for longer than the upstream can be expected to keep it open. */
  isStale(now: number): boolean;
  /** Fails the request if one of its timeouts has passed; `now` is by `performance.now()`. */
  checkTime(now: number): void;
}

/** Owns connections, and is notified when one becomes free or closes. */
export interface ConnectionOwner {
  onFree(connection: PooledConnection): void;
  /** Called when a connection has become a tunnel: the connection is gone, and its socket stays open. */
  onSwitched(connection: PooledConnection, socket: Socket): void;
  onGone(connection: PooledConnection): void;
}

/** Lifetime of a free connection unless the upstream states one: less than common servers' timeout (5 s). */
export const defaultKeepAliveMs = 4_000;

/** Methods that may be sent a second time when a kept connection turns out to be dead (RFC 9110 §9.2.2). */
export const retriedMethods: ReadonlySet<string> = new Set(['GET', 'HEAD', 'OPTIONS']);

/** A request to an upstream, notified of its progress. It ends with exactly one of `onEnd`, `onSwitch` and `onError`. */
export interface UpstreamRequest {
  /** The connection that carries it, once there is one; set by the connection. */
  connection: RequestConnection | null;
  /** Instant at which the request began to wait for a connection, by `performance.now()`; set by the pool. */
  waitingSince: number;
  /** Instant at which a connection first took the request, by `performance.now()`; 0: none has. Set by the connection. */
  takenAt: number;
  readonly method: string;
  readonly target: string;
  /** Names and values in turn. Read once each time the request is sent, because a header may state the moment. */
  readonly fields: readonly string[];
  /** The head made of `method`, `target` and `fields`; read likewise. */
  readonly headText: HeadText;
  readonly chunked: boolean;
  readonly hasBody: boolean;
  readonly isUploading: boolean;
  /** The protocol that the request asks to switch to, in lower case; null: none. */
  readonly upgrade: string | null;
  readonly connectTimeoutMs: number;
  readonly responseTimeoutMs: number;
  readonly idleTimeoutMs: number;
  /** The head has been written: the body may follow. */
  onSent(): void;
  /** The upstream accepts more of the body, after a `write` that returned false. */
  onDrain(): void;
  onInterim(status: number, fields: string[]): void;
  /** `length` of the body in bytes; -1 if it isn't announced. */
  onHead(status: number, fields: string[], length: number): void;
  onData(chunk: Buffer): void;
  /** Everything received of the response has been passed on, and more of it follows. */
  onCaughtUp(): void;
  onEnd(trailers: string[]): void;
  /** The upstream agreed to `upgrade`: the socket and the bytes after its response now belong to the request. */
  onSwitch(fields: string[], socket: Duplex, bytes: Buffer): void;
  onError(error: UpstreamError): void;
}
