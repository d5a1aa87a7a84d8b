import { type Dispatcher, errors, Pool } from 'undici';
import { Refusal } from '../errors.ts';

/** An upstream service, normalised. Durations in milliseconds. */
export interface UpstreamOptions {
  readonly name: string;
  /** `http://host:port` or `https://host:port`; with `socketPath` only its scheme and `Host` count. */
  readonly origin: string;
  readonly socketPath: string | null;
  /** Sent as `Host` in place of the one received; null: as received. */
  readonly host: string | null;
  readonly tls: {
    readonly ca?: Buffer;
    readonly cert?: Buffer;
    readonly key?: Buffer;
    readonly serverName?: string;
  } | null;
  readonly connectTimeoutMs: number;
  readonly maxConnections: number;
  /** Requests that may wait for a connection. */
  readonly maxWaiting: number;
}

/** A bounded pool of connections to one service. */
export interface Upstream {
  readonly name: string;
  readonly host: string | null;
  /** `Host` for a request that came without one (HTTP/1.0). */
  readonly authority: string;
  /** Sends a request; throws `upstream_overloaded` when connections and the queue are full. */
  dispatch(options: Dispatcher.DispatchOptions, handler: Dispatcher.DispatchHandler): void;
  /** Called by whoever dispatched, once, when the request is over. */
  release(): void;
  /** Requests under way or waiting. */
  readonly inFlight: number;
  /** Closes every connection at once. */
  close(): Promise<void>;
}

/** The largest head of an upstream's answer, in bytes. */
const maxAnswerHeadBytes = 64 * 1024;

/** Builds the pool; it connects when it is first used. */
export function createUpstream(options: UpstreamOptions): Upstream {
  const { tls } = options;
  const pool = new Pool(options.origin, {
    connections: options.maxConnections,
    pipelining: 1,
    allowH2: false,
    maxHeaderSize: maxAnswerHeadBytes,
    connect: {
      timeout: options.connectTimeoutMs,
      ...(options.socketPath === null ? {} : { socketPath: options.socketPath }),
      ...(tls === null ? {} : { ca: tls.ca, cert: tls.cert, key: tls.key, servername: tls.serverName }),
    },
  });
  const bound = options.maxConnections + options.maxWaiting;
  return {
    name: options.name,
    host: options.host,
    authority: new URL(options.origin).host,
    inFlight: 0,
    dispatch(request, handler) {
      const self = this as { inFlight: number };
      if (self.inFlight >= bound) throw new Refusal('upstream_overloaded');
      self.inFlight++;
      pool.dispatch(request, handler);
    },
    release() {
      (this as { inFlight: number }).inFlight--;
    },
    close: () => pool.destroy(),
  };
}

/** The refusal that a failed request to an upstream comes to; what the upstream was stays in the log. */
export function upstreamRefusal(error: unknown): Refusal {
  if (error instanceof Refusal) return error;
  const timedOut = error instanceof errors.ConnectTimeoutError || error instanceof errors.HeadersTimeoutError;
  return new Refusal(timedOut ? 'upstream_timeout' : 'upstream_unavailable', { cause: error });
}

/** Whether the connection had carried an answer before and died before the first byte of this one. */
export function diedIdle(error: unknown): boolean {
  return error instanceof errors.SocketError && (error.socket?.bytesRead ?? 0) > 0;
}
