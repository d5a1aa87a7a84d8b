import type { Socket } from 'node:net';
import type { Duplex } from 'node:stream';
import type { HeadText } from '../message/head-text.ts';
import type { UpstreamError } from './upstream-error.ts';

/** The connection that carries a request, as the request sees it. */
export interface RequestConnection {
  /**
   * Sends bytes of the body in the announced framing; the caller gives up the buffer. Returns false if the caller should wait
   * for `onDrain`.
   */
  write(bytes: Buffer): boolean;
  endBody(): void;
  pause(): void;
  resume(): void;
  /** Closes the connection at once, without notifying its request. */
  destroy(): void;
}

/** A connection of a pool, as the pool sees it: carries one request at a time. */
export interface PooledConnection extends RequestConnection {
  /** Sends the request; called only while the connection is free. */
  send(request: UpstreamRequest): void;
  /** True if the connection has been free for longer than the upstream can be expected to keep it open. */
  isStale(now: number): boolean;
  /** Fails the request if one of its timeouts has expired, or closes a stale free connection; `now` is by `performance.now()`. */
  checkTime(now: number): void;
}

/** Owns connections, and is notified when one becomes free or closes. */
export interface ConnectionOwner {
  onFree(connection: PooledConnection): void;
  /** Called when a connection has become a tunnel: it leaves the pool, and its socket stays open. */
  onSwitched(connection: PooledConnection, socket: Socket): void;
  onGone(connection: PooledConnection): void;
}

/** Lifetime of a free connection, ms, unless the upstream states one: less than the timeout of common servers (5 s). */
export const defaultKeepAliveMs = 4_000;

/** Methods that may be sent a second time when a reused connection turns out to be dead (RFC 9110 §9.2.2). */
export const retriedMethods: ReadonlySet<string> = new Set(['GET', 'HEAD', 'OPTIONS']);

/** A request to an upstream, notified of its progress. Unless abandoned, it ends with one of `onEnd`, `onSwitch`, `onError`. */
export interface UpstreamRequest {
  /** The connection that carries the request, once there is one; set by that connection. */
  connection: RequestConnection | null;
  /** Instant at which the request began to wait for a connection, by `performance.now()`; set by the pool. */
  waitingSince: number;
  /** Instant at which a connection first took the request, by `performance.now()`; 0 if none has. Set by the connection. */
  takenAt: number;
  readonly method: string;
  readonly target: string;
  /** Names and values in turn. Read each time the request is sent, because a header may contain the time of sending. */
  readonly fields: readonly string[];
  /** The head made of `method`, `target` and `fields`; also read each time the request is sent. */
  readonly headText: HeadText;
  readonly chunked: boolean;
  readonly hasBody: boolean;
  readonly isUploading: boolean;
  /** The protocol that the request asks to switch to, in lower case; null: none. */
  readonly upgrade: string | null;
  readonly connectTimeoutMs: number;
  readonly responseTimeoutMs: number;
  readonly idleTimeoutMs: number;
  /** Called when the head has been written: the body may follow. */
  onSent(): void;
  /** Called when the upstream accepts more of the body, after a `write` that returned false. */
  onDrain(): void;
  onInterim(status: number, fields: string[]): void;
  /** Called with the head of the final response; `length`: announced size of its body in bytes, -1 if none is announced. */
  onHead(status: number, fields: string[], length: number): void;
  onData(chunk: Buffer): void;
  /** Called when all received bytes of the response have been passed on and more are expected. */
  onCaughtUp(): void;
  onEnd(trailers: string[]): void;
  /** Called when the upstream has agreed to `upgrade`: the socket and the bytes after the head now belong to the request. */
  onSwitch(fields: string[], socket: Duplex, bytes: Buffer): void;
  onError(error: UpstreamError): void;
}
