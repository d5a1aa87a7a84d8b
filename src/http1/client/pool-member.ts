import type { Socket } from 'node:net';
import type { Duplex } from 'node:stream';
import { MalformedMessage } from '../message/message-head.ts';
import {
  type ConnectionOwner,
  defaultKeepAliveMs,
  type PooledConnection,
  type UpstreamRequest,
} from './client-request.ts';
import type { DialHandler, Dialler, Dialling } from './dialler.ts';
import { assertNoInterimBody, framingOf, type ResponseFraming } from './response-framing.ts';
import type { SocketReads } from './socket-reads.ts';
import { UpstreamError } from './upstream-error.ts';

/** Maximum size of a response head or of trailers, bytes. */
export const maxHeadBytes: number = 64 * 1024;
/** Maximum number of interim responses to one request; a response with more is malformed. */
const maxInterim = 32;

/** Source of a response, which can be paused to slow the upstream down. */
export interface ResponseSource {
  pause(): void;
  resume(): void;
}

/** Base of a pool's connections, independent of the HTTP engine: carries a request, checks its timeouts, reports failures. */
export abstract class PoolMember implements PooledConnection, DialHandler {
  abstract readonly readsStream: boolean;
  responses = 0;
  /** Instant at which the connection last became free or made progress, by `performance.now()`. */
  since: number = performance.now();
  protected socket: Socket | undefined;
  protected keepAliveMs: number;
  protected request: UpstreamRequest | null = null;
  protected framing: ResponseFraming | null = null;
  protected isSent = false;
  protected gotBytes = false;
  protected isDead = false;
  protected isPaused = false;
  readonly #owner: ConnectionOwner;
  readonly #dialler: Dialler;
  #dialling: Dialling;
  #interim = 0;

  constructor(dialler: Dialler, owner: ConnectionOwner, keepAliveMs: number = defaultKeepAliveMs) {
    this.#dialler = dialler;
    this.#owner = owner;
    this.keepAliveMs = keepAliveMs;
    this.#dialling = dialler.dial(this);
  }

  /** Destroys the socket, if any, and starts to open another. */
  protected dialAgain(): void {
    this.socket?.destroy();
    this.socket = undefined;
    this.#dialling = this.#dialler.dial(this);
  }

  onConnected(socket: Socket, reads: SocketReads | null): void {
    this.socket = socket;
    socket.setNoDelay(true);
    this.listenTo(socket, reads);
    this.since = performance.now();
    if (this.request !== null) this.carry(this.request);
  }

  onUnreached(error: Error): void {
    this.fail(new UpstreamError('refused', error));
  }

  /** Listens to the socket; `reads` as for {@link DialHandler.onConnected}. */
  protected abstract listenTo(socket: Socket, reads: SocketReads | null): void;

  protected abstract carry(request: UpstreamRequest): void;
  protected abstract get source(): ResponseSource | null;
  abstract write(bytes: Buffer): boolean;
  abstract endBody(): void;

  send(request: UpstreamRequest): void {
    this.request = request;
    request.connection = this;
    this.framing = null;
    this.gotBytes = false;
    this.#interim = 0;
    this.isSent = !request.hasBody;
    this.since = performance.now();
    if (request.takenAt === 0) request.takenAt = this.since;
    if (this.socket !== undefined) this.carry(request);
  }

  pause(): void {
    this.isPaused = true;
    this.source?.pause();
  }

  resume(): void {
    this.isPaused = false;
    this.since = performance.now();
    this.source?.resume();
  }

  destroy(): void {
    if (this.isDead) return;
    this.isDead = true;
    this.request = null;
    this.#dialling.destroy();
    this.socket?.destroy();
    this.#owner.onGone(this);
  }

  isStale(now: number): boolean {
    return now - this.since > this.keepAliveMs;
  }

  checkTime(now: number): void {
    const { request } = this;
    if (request === null) {
      if (this.isStale(now)) this.destroy();
      return;
    }
    const waited = now - this.since;
    if (this.socket === undefined) {
      if (waited > request.connectTimeoutMs)
        this.fail(new UpstreamError('connect_timeout', this.#dialling.delay));
    } else if (this.framing === null) {
      // The upstream's time doesn't count while the body is still being sent, unless the upstream stops reading it.
      const isWaiting = this.isSent || this.socket.writableNeedDrain;
      if (isWaiting && waited > request.responseTimeoutMs) this.fail(new UpstreamError('response_timeout'));
    } else if (!this.isPaused && waited > request.idleTimeoutMs) this.fail(new UpstreamError('idle_timeout'));
  }

  /** Passes a response head on to the request; returns false for the head of an interim response. Throws `MalformedMessage`. */
  protected receiveHead(status: number, minor: number, fields: string[]): boolean {
    const request = this.request!;
    if (status < 200) {
      if (++this.#interim > maxInterim) throw new MalformedMessage('too many interim responses');
      assertNoInterimBody(fields);
      this.since = performance.now();
      request.onInterim(status, fields);
      return false;
    }
    const framing = framingOf(request.method, status, minor, fields);
    this.framing = framing;
    if (framing.keepAliveMs !== null) this.keepAliveMs = framing.keepAliveMs;
    request.onHead(status, fields, framing.announced);
    return true;
  }

  /** Completes the response; the connection becomes free, or closes if it can't be reused. */
  protected complete(isReusable: boolean, trailers: string[]): void {
    const request = this.request!;
    this.request = null;
    this.responses++;
    if (!isReusable) this.destroy();
    request.onEnd(trailers);
    if (!isReusable || this.isDead) return;
    this.since = performance.now();
    // A client that read slowly may have left the connection paused.
    if (this.isPaused) this.resume();
    this.#owner.onFree(this);
  }

  /** Hands the socket to the request after a switch of protocols; the connection leaves the pool. */
  protected handOver(fields: string[], socket: Duplex, bytes: Buffer): void {
    const request = this.request!;
    this.isDead = true;
    this.request = null;
    this.#owner.onSwitched(this, this.socket!);
    request.onSwitch(fields, socket, bytes);
  }

  protected fail(error: UpstreamError): void {
    if (this.isDead) return;
    const { request } = this;
    this.destroy();
    // The connection had carried a response before, and was closed before the first byte of this one.
    error.diedIdle = this.responses > 0 && !this.gotBytes && error.kind === 'reset';
    request?.onError(error);
  }
}
