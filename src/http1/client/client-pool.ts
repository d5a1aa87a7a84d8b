import type { Socket } from 'node:net';
import { Refusal } from '../../errors.ts';
import { UpstreamConnection } from './client-connection.ts';
import type { ConnectionOwner, PooledConnection, UpstreamRequest } from './client-request.ts';
import type { SocketTarget } from './client-socket.ts';
import { createDialler, type Dialler } from './dialler.ts';
import { RestingConnections } from './resting-connections.ts';
import { UpstreamError } from './upstream-error.ts';

/** The load of a pool at one moment; each of its connections is either busy or free. */
export interface ConnectionLoad {
  /** Connections that carry a request, or are being opened for one. */
  readonly busy: number;
  readonly free: number;
  /** Sockets of upgraded connections, which have left the pool and are still open. */
  readonly upgraded: number;
  readonly waiting: number;
}

/** Options of a connection pool for an upstream service; durations are in milliseconds. */
export interface UpstreamOptions extends SocketTarget {
  readonly name: string;
  /** `Host` for a request that has none (HTTP/1.0). */
  readonly authority: string;
  /** `Host` to send instead of the client's; null to keep the client's. */
  readonly host: string | null;
  readonly maxConnections: number;
  readonly maxWaiting: number;
  /** The shortest timeout of any request, which determines how often timeouts are checked. */
  readonly shortestTimeoutMs: number;
  readonly beforeConnect?: () => void;
}

/** Creates a connection for the pool `owner`; the connection starts to connect at once. */
export type OpenConnection = (dialler: Dialler, owner: ConnectionOwner) => PooledConnection;

/** Bounded pool of connections to one service, opened on demand. The free connection used most recently is taken first. */
export class Upstream implements ConnectionOwner {
  readonly name: string;
  readonly authority: string;
  readonly host: string | null;
  readonly #options: UpstreamOptions;
  readonly #open: OpenConnection;
  readonly #dialler: Dialler;
  readonly #all = new Set<PooledConnection>();
  readonly #free: PooledConnection[] = [];
  readonly #resting = new RestingConnections<PooledConnection>((connection) => this.#onRested(connection));
  readonly #queue = new Set<UpstreamRequest>();
  /** Waiting requests whose body is still arriving, in order of arrival. */
  readonly #uploadQueue = new Set<UpstreamRequest>();
  /** Requests being sent whose body is still arriving. */
  readonly #uploads = new Set<UpstreamRequest>();
  readonly #maxUploads: number;
  #upgraded = 0;
  /** Timer that checks timeouts; null while it is stopped. */
  #timer: NodeJS.Timeout | null = null;

  /** `open` creates the connections; by default, those of the built-in engine. */
  constructor(
    options: UpstreamOptions,
    open: OpenConnection = (dialler, owner) => new UpstreamConnection(dialler, owner),
  ) {
    this.#open = open;
    this.#dialler = createDialler(options);
    this.name = options.name;
    this.authority = options.authority;
    this.host = options.host;
    this.#options = options;
    this.#maxUploads = Math.max(1, Math.floor(options.maxConnections / 2));
  }

  #startChecks(): NodeJS.Timeout {
    const interval = Math.min(1_000, Math.max(10, this.#options.shortestTimeoutMs / 4));
    return setInterval(() => this.#checkTimes(), interval).unref();
  }

  #checkTimes(): void {
    const now = performance.now();
    for (const connection of this.#all) connection.checkTime(now);
    for (const queue of [this.#queue, this.#uploadQueue])
      for (const request of queue)
        if (now - request.waitingSince > request.responseTimeoutMs) this.#giveUp(request);
    // Requests only wait while there are connections; the next connection starts the checks again.
    if (this.#all.size === 0) this.#stopChecks();
  }

  #stopChecks(): void {
    if (this.#timer !== null) clearInterval(this.#timer);
    this.#timer = null;
  }

  /** True while timeouts are checked. */
  get isChecked(): boolean {
    return this.#timer !== null;
  }

  load(): ConnectionLoad {
    const free = this.#free.length + this.#resting.size;
    const waiting = this.#queue.size + this.#uploadQueue.size;
    return { busy: this.#all.size - free, free, upgraded: this.#upgraded, waiting };
  }

  /** Closes the connection that has been free for longest; false if none is free. */
  closeFree(): boolean {
    const [longest] = this.#free;
    longest?.destroy();
    return longest !== undefined;
  }

  /**
   * Sends the request, now or once a connection is free. Requests whose body is still arriving get at most half of the
   * connections, and wait in a queue of their own. Throws `upstream_overloaded` if the queue is full.
   */
  send(request: UpstreamRequest): void {
    if (this.#mayStart(request)) {
      const free = this.#takeFree();
      if (free !== undefined) {
        this.#carry(free, request);
        return;
      }
      // A resting connection is ready sooner than a new one.
      const isAwaited = this.#resting.size > this.#queue.size + this.#uploadQueue.size;
      if (!isAwaited && this.#all.size < this.#options.maxConnections) {
        this.#connect(request);
        return;
      }
    }
    const queue = request.isUploading ? this.#uploadQueue : this.#queue;
    // Requests that get a resting connection hardly wait, and don't count.
    if (queue.size >= this.#options.maxWaiting + this.#resting.size) throw new Refusal('upstream_overloaded');
    request.waitingSince = performance.now();
    queue.add(request);
    this.#resting.hurry();
  }

  #mayStart(request: UpstreamRequest): boolean {
    return !request.isUploading || this.#uploads.size < this.#maxUploads;
  }

  #carry(connection: PooledConnection, request: UpstreamRequest): void {
    if (request.isUploading) this.#uploads.add(request);
    connection.send(request);
  }

  /** Resends a request whose connection turned out to have died while it was free. Throws like {@link send}. */
  sendAgain(request: UpstreamRequest): void {
    // Other free connections may be just as dead; only a new one is certain to work.
    if (this.#all.size >= this.#options.maxConnections) this.#free.pop()?.destroy();
    if (this.#all.size < this.#options.maxConnections) this.#connect(request);
    else this.send(request);
  }

  /** Notes that the whole body of a request has arrived, whether the request is waiting or being sent. */
  bodyReceived(request: UpstreamRequest): void {
    if (this.#uploadQueue.delete(request)) this.#queue.add(request);
    else if (!this.#uploads.delete(request)) return;
    this.#startWaiting();
  }

  /** Removes a request that is over from the queues and from the uploads. */
  forget(request: UpstreamRequest): void {
    this.#queue.delete(request);
    this.#uploadQueue.delete(request);
    if (this.#uploads.delete(request)) this.#startWaiting();
  }

  #startWaiting(): void {
    while (this.#queue.size + this.#uploadQueue.size > 0) {
      const free = this.#takeFree();
      if (free === undefined && this.#all.size >= this.#options.maxConnections) return;
      const next = this.#takeWaiting();
      if (next === undefined) {
        if (free !== undefined) this.#free.push(free);
        return;
      }
      if (free !== undefined) this.#carry(free, next);
      else this.#connect(next);
    }
  }

  close(): void {
    this.#stopChecks();
    for (const connection of [...this.#all]) connection.destroy();
  }

  #giveUp(request: UpstreamRequest): void {
    this.#queue.delete(request);
    this.#uploadQueue.delete(request);
    request.onError(new UpstreamError('response_timeout'));
  }

  #connect(request: UpstreamRequest): void {
    this.#options.beforeConnect?.();
    const connection = this.#open(this.#dialler, this);
    this.#all.add(connection);
    this.#timer ??= this.#startChecks();
    this.#carry(connection, request);
  }

  onFree(connection: PooledConnection): void {
    this.#resting.add(connection);
    if (this.#queue.size + this.#uploadQueue.size > 0) this.#resting.hurry();
  }

  #onRested(connection: PooledConnection): void {
    if (!this.#all.has(connection)) return;
    const next = this.#takeWaiting();
    if (next === undefined) this.#free.push(connection);
    else this.#carry(connection, next);
  }

  onSwitched(connection: PooledConnection, socket: Socket): void {
    this.#upgraded += 1;
    socket.once('close', () => {
      this.#upgraded -= 1;
    });
    this.onGone(connection);
  }

  onGone(connection: PooledConnection): void {
    if (!this.#all.delete(connection)) return;
    const at = this.#free.indexOf(connection);
    if (at >= 0) this.#free.splice(at, 1);
    const next = this.#takeWaiting();
    if (next !== undefined) this.#connect(next);
  }

  #takeFree(): PooledConnection | undefined {
    for (let free = this.#free.pop(); free !== undefined; free = this.#free.pop()) {
      if (!free.isStale(performance.now())) return free;
      free.destroy();
    }
    return undefined;
  }

  /** Takes from its queue the request that has waited longest among those that may start. */
  #takeWaiting(): UpstreamRequest | undefined {
    if (this.#queue.size + this.#uploadQueue.size === 0) return undefined;
    const [first] = this.#queue;
    const [upload] = this.#uploads.size < this.#maxUploads ? this.#uploadQueue : [];
    const isUpload =
      upload !== undefined && (first === undefined || upload.waitingSince < first.waitingSince);
    const next = isUpload ? upload : first;
    if (next !== undefined) (isUpload ? this.#uploadQueue : this.#queue).delete(next);
    return next;
  }
}
