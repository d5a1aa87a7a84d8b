import { isIP, connect as netConnect, type Socket } from 'node:net';
import { connect as tlsConnect } from 'node:tls';
import { Refusal } from '../errors.ts';
import { type ConnectionOwner, UpstreamConnection } from './client-connection.ts';
import type { UpstreamRequest } from './client-request.ts';
import { RestingConnections } from './resting-connections.ts';
import { UpstreamError } from './upstream-error.ts';

/** What a pool of connections is at, at one moment; `busy` and `free` are all of them. */
export interface ConnectionLoad {
  /** Connections that carry something, or are being made for it. */
  readonly busy: number;
  readonly free: number;
  /** Requests that wait for a connection. */
  readonly waiting: number;
}

/** TLS towards an upstream; PEM texts. */
export interface UpstreamTls {
  readonly ca?: Buffer;
  readonly cert?: Buffer;
  readonly key?: Buffer;
  readonly serverName?: string;
}

/** An upstream service, normalised. Durations in milliseconds. */
export interface UpstreamOptions {
  readonly name: string;
  readonly address: { readonly host: string; readonly port: number } | { readonly socketPath: string };
  /** Null for plain HTTP. */
  readonly tls: UpstreamTls | null;
  /** `Host` for a request that came without one (HTTP/1.0). */
  readonly authority: string;
  /** Sent as `Host` in place of the one received; null: as received. */
  readonly host: string | null;
  readonly maxConnections: number;
  /** Requests that may wait for a connection. */
  readonly maxWaiting: number;
  /** The shortest time-out of any request, by which connections are looked at. */
  readonly shortestTimeoutMs: number;
}

/** A bounded pool of connections to one service. */
export interface Upstream {
  readonly name: string;
  readonly authority: string;
  readonly host: string | null;
  /**
   * Sends the request, now or when a connection is free. Requests whose body is on its way get half of the connections
   * at most, and wait in a queue of their own. Throws `upstream_overloaded` when the queue is full.
   */
  send(request: UpstreamRequest): void;
  /** Sends once more what a connection that had been thought alive lost. Throws as `send` does. */
  sendAgain(request: UpstreamRequest): void;
  /** All of the body of a request has come, wherever the request is now. */
  bodyCame(request: UpstreamRequest): void;
  /** A request is over: it waits no more, and takes no place of those with a body on its way. */
  forget(request: UpstreamRequest): void;
  load(): ConnectionLoad;
  /** Closes every connection at once. */
  close(): void;
}

/** How long a free connection is kept when the upstream says nothing: less than common servers wait (5 s). */
const defaultKeepAliveMs = 4_000;

/** Builds the pool; it connects when it is first used. The connection used last is used first again. */
export function createUpstream(options: UpstreamOptions): Upstream {
  return new UpstreamPool(options);
}

class UpstreamPool implements Upstream, ConnectionOwner {
  readonly name: string;
  readonly authority: string;
  readonly host: string | null;
  readonly #options: UpstreamOptions;
  readonly #all = new Set<UpstreamConnection>();
  readonly #free: UpstreamConnection[] = [];
  readonly #resting = new RestingConnections<UpstreamConnection>((connection) => this.#onRested(connection));
  /** In order of arrival. */
  readonly #queue = new Set<UpstreamRequest>();
  /** Likewise, those whose body is on its way. */
  readonly #uploadQueue = new Set<UpstreamRequest>();
  /** Those that a connection carries while their body is on its way. */
  readonly #uploads = new Set<UpstreamRequest>();
  readonly #maxUploads: number;
  readonly #timer: NodeJS.Timeout;

  constructor(options: UpstreamOptions) {
    this.name = options.name;
    this.authority = options.authority;
    this.host = options.host;
    this.#options = options;
    this.#maxUploads = Math.max(1, Math.floor(options.maxConnections / 2));
    const interval = Math.min(1_000, Math.max(10, options.shortestTimeoutMs / 4));
    this.#timer = setInterval(() => {
      const now = performance.now();
      for (const connection of this.#all) connection.checkTime(now);
      for (const queue of [this.#queue, this.#uploadQueue])
        for (const request of queue)
          if (now - request.waitingSince > request.responseTimeoutMs) this.#giveUp(request);
    }, interval);
    this.#timer.unref();
  }

  load(): ConnectionLoad {
    const free = this.#free.length + this.#resting.size;
    return { busy: this.#all.size - free, free, waiting: this.#queue.size + this.#uploadQueue.size };
  }

  send(request: UpstreamRequest): void {
    if (this.#mayStart(request)) {
      const free = this.#takeFree();
      if (free !== undefined) {
        this.#carry(free, request);
        return;
      }
      // One that rests is there sooner than a new one.
      const isAwaited = this.#resting.size > this.#queue.size + this.#uploadQueue.size;
      if (!isAwaited && this.#all.size < this.#options.maxConnections) {
        this.#connect(request);
        return;
      }
    }
    const queue = request.bodyOnItsWay ? this.#uploadQueue : this.#queue;
    // Who takes one that rests hardly waits.
    if (queue.size >= this.#options.maxWaiting + this.#resting.size) throw new Refusal('upstream_overloaded');
    request.waitingSince = performance.now();
    queue.add(request);
    this.#resting.hurry();
  }

  #mayStart(request: UpstreamRequest): boolean {
    return !request.bodyOnItsWay || this.#uploads.size < this.#maxUploads;
  }

  #carry(connection: UpstreamConnection, request: UpstreamRequest): void {
    if (request.bodyOnItsWay) this.#uploads.add(request);
    connection.send(request);
  }

  sendAgain(request: UpstreamRequest): void {
    // The others that are free may be as dead as the one that lost it: only a new connection surely is not.
    if (this.#all.size >= this.#options.maxConnections) this.#free.pop()?.destroy();
    if (this.#all.size < this.#options.maxConnections) this.#connect(request);
    else this.send(request);
  }

  bodyCame(request: UpstreamRequest): void {
    if (this.#uploadQueue.delete(request)) this.#queue.add(request);
    else if (!this.#uploads.delete(request)) return;
    this.#startWaiting();
  }

  forget(request: UpstreamRequest): void {
    this.#queue.delete(request);
    this.#uploadQueue.delete(request);
    if (this.#uploads.delete(request)) this.#startWaiting();
  }

  /** Gives what waits the connections there are for it. */
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
    clearInterval(this.#timer);
    for (const connection of [...this.#all]) connection.destroy();
  }

  #giveUp(request: UpstreamRequest): void {
    this.#queue.delete(request);
    this.#uploadQueue.delete(request);
    request.onError(new UpstreamError('response_timeout'));
  }

  #connect(request: UpstreamRequest): void {
    const { tls } = this.#options;
    const connection = new UpstreamConnection(
      this.#openSocket(),
      this,
      tls === null ? 'connect' : 'secureConnect',
      defaultKeepAliveMs,
    );
    this.#all.add(connection);
    this.#carry(connection, request);
  }

  #openSocket(): Socket {
    const { address, tls } = this.#options;
    const where = {
      ...('socketPath' in address ? { path: address.socketPath } : address),
      // The end of one direction of an upgraded connection is not that of the other.
      allowHalfOpen: true,
    };
    if (tls === null) return netConnect(where);
    const { ca, cert, key, serverName } = tls;
    // An IP address is no server name (RFC 6066 §3); the certificate is checked against it all the same.
    const servername =
      serverName ?? ('host' in address && isIP(address.host) === 0 ? address.host : undefined);
    return tlsConnect({ ...where, ca, cert, key, servername, ALPNProtocols: ['http/1.1'] });
  }

  onFree(connection: UpstreamConnection): void {
    this.#resting.add(connection);
    if (this.#queue.size + this.#uploadQueue.size > 0) this.#resting.hurry();
  }

  #onRested(connection: UpstreamConnection): void {
    if (!this.#all.has(connection)) return;
    const next = this.#takeWaiting();
    if (next === undefined) this.#free.push(connection);
    else this.#carry(connection, next);
  }

  onGone(connection: UpstreamConnection): void {
    if (!this.#all.delete(connection)) return;
    const at = this.#free.indexOf(connection);
    if (at >= 0) this.#free.splice(at, 1);
    const next = this.#takeWaiting();
    if (next !== undefined) this.#connect(next);
  }

  #takeFree(): UpstreamConnection | undefined {
    for (let free = this.#free.pop(); free !== undefined; free = this.#free.pop()) {
      if (!free.isStale(performance.now())) return free;
      free.destroy();
    }
    return undefined;
  }

  /** Whoever has waited longest of those that may start. */
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
