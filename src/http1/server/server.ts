import { type AddressInfo, createServer, type Server, type Socket } from 'node:net';
import { setImmediate } from 'node:timers/promises';
import { createServer as createTlsServer, type TLSSocket } from 'node:tls';
import { FieldBlock } from '../message/head-text.ts';
import type { TimeLimits } from './connection-clock.ts';
import type { ConnectionOptions, ServerExchange } from './connection-options.ts';
import type { HandshakeFailure } from './handshake-failure.ts';
import { listen } from './listen.ts';
import type { ServedConnection } from './served-connection.ts';
import { ServerConnection } from './server-connection.ts';
import type { TargetLimits } from './target-limits.ts';
import { TlsGate, tlsServerOptions } from './tls-gate.ts';
import { admitsOthers, type ListenerTls } from './tls-settings.ts';

/** Limits of a server; durations are in milliseconds. */
export interface ServerLimits extends TimeLimits {
  readonly connections: number;
  /** Maximum size of a head in bytes, not counting a long target ({@link TargetLimits}). */
  readonly headerBytes: number;
  /** Maximum number of requests; 0: no limit. */
  readonly requestsPerConnection: number;
}

/** The settings that may change while a server runs. */
export interface ServerSettings {
  readonly limits: ServerLimits;
  readonly targets: TargetLimits;
}

/** Options of a server; its callbacks handle the requests. */
export interface ServerOptions<Exchange extends ServerExchange>
  extends ServerSettings,
    Pick<ConnectionOptions<Exchange>, 'createExchange' | 'onRequest' | 'onUnreadable' | 'onClosed'> {
  /** Null for plain HTTP. */
  readonly tls: ListenerTls | null;
  /** Decides whether to accept a connection; on false, it is destroyed before a byte of it is read, even of TLS. */
  readonly admits: (socket: Socket) => boolean;
  /** Called when a new connection has been closed at once because the limit of connections was reached. */
  readonly onDropped: () => void;
  readonly onHandshakeFailed: (failure: HandshakeFailure) => void;
}

/** Accepts connections and reads their requests. */
export interface Listener {
  readonly server: Server;
  /** Uses these settings for new connections; has no effect on a listener for plain HTTP. */
  renewTls(tls: ListenerTls): void;
  apply(settings: ServerSettings): void;
}

/** Creates a listener that passes each connection to `onConnection` once it is ready for requests. */
export type CreateListener = <Exchange extends ServerExchange>(
  options: ServerOptions<Exchange>,
  shared: ConnectionOptions<Exchange>,
  onConnection: (connection: ServedConnection<Exchange>, socket: Socket) => void,
) => Listener;

/**
 * Maximum time for which a drain keeps an idle connection after a response that promised to keep it open, ms: the client's next
 * request may already be on its way.
 */
const promisedKeepAliveMs = 1_000;

/** A listening HTTP/1.1 server that can be drained; `listen` starts it. */
export class Http1Server<Exchange extends ServerExchange> {
  /** Open connections and their sockets, which are TLS sockets if the server uses TLS. */
  readonly #connections = new Map<ServedConnection<Exchange>, Socket>();
  readonly #sockets = new Set<Socket>();
  readonly #listener: Listener;
  /** Options of all connections; changed in place when new settings are applied. */
  readonly #shared: ConnectionOptions<Exchange>;
  #settings: ServerSettings;
  #tls: ListenerTls | null;
  /** Timer that checks the timeouts of connections; null while it is stopped. */
  #timer: NodeJS.Timeout | null = null;
  #isClosing = false;
  #onLastGone = () => {};

  /** `createListener` determines the engine that reads requests; the default is the built-in engine. */
  constructor(options: ServerOptions<Exchange>, createListener: CreateListener = createSocketListener) {
    const { createExchange, onRequest, onUnreadable, onClosed, admits, onDropped, limits } = options;
    this.#settings = options;
    this.#tls = options.tls;
    this.#shared = {
      ...connectionSettings(options),
      encrypted: options.tls !== null,
      isClosing: () => this.#isClosing,
      createExchange,
      onRequest,
      onUnreadable,
      onClosed,
    };
    this.#listener = createListener(options, this.#shared, (connection, socket) =>
      this.#accept(connection, socket),
    );
    const { server } = this.#listener;
    server.maxConnections = limits.connections;
    server.on('drop', onDropped);
    // Before any other listener, including that of TLS: a connection that isn't admitted must cost nothing more.
    server.prependListener('connection', (socket: Socket) => this.#admit(socket, admits));
  }

  get connections(): number {
    return this.#connections.size;
  }

  /** Number of open sockets, including sockets in a TLS handshake and upgraded ones. */
  get sockets(): number {
    return this.#sockets.size;
  }

  /** Accepts connections only while fewer than `count` are open, until other settings are applied. */
  limitConnections(count: number): void {
    this.#listener.server.maxConnections = count;
  }

  /** Starts to listen. `isShared`: other processes of this user may share the port; the kernel distributes the connections. */
  listen(host: string, port: number, isShared = false): Promise<AddressInfo> {
    return listen(this.#listener.server, { port, host, reusePort: isShared });
  }

  /**
   * Uses these settings for new connections. If they might refuse connected clients, all have to reconnect: a connection closes
   * after the response in progress, and a handshake in progress, which would complete under the old settings, is cut at once.
   */
  renewTls(tls: ListenerTls): void {
    this.#listener.renewTls(tls);
    if (admitsOthers(this.#tls, tls)) {
      for (const socket of this.#shakingHands()) socket.destroy();
      for (const connection of this.#connections.keys()) connection.retire();
    }
    this.#tls = tls;
  }

  /** Applies new settings: timeouts to all connections at once, size limits possibly only to new connections. */
  apply(settings: ServerSettings): void {
    this.#settings = settings;
    Object.assign(this.#shared, connectionSettings(settings));
    this.#listener.apply(settings);
    this.#listener.server.maxConnections = settings.limits.connections;
    if (this.#timer !== null) {
      clearInterval(this.#timer);
      this.#timer = this.#startPolling();
    }
  }

  /**
   * Adds `Connection: close` to all responses that have not begun yet; connections are still accepted. A connection whose last
   * response has promised to keep it open stays open for its next request.
   */
  announceClose(): void {
    this.#isClosing = true;
    for (const connection of this.#connections.keys()) connection.announceClose();
  }

  /**
   * Stops accepting connections and closes idle ones; resolves when all connections have closed. Those still open after
   * `timeoutMs` are reset.
   */
  async drain(timeoutMs: number): Promise<void> {
    this.announceClose();
    // First, requests that have already reached this machine are read.
    await setImmediate();
    this.#shortenKeepAlive();
    return new Promise((resolve) => {
      const resetTimer = setTimeout(() => this.#reset(), timeoutMs);
      this.#listener.server.close(() => {
        clearTimeout(resetTimer);
        this.#stopPolling();
        // Node counts a socket as closed before its `close` event, on which the request is logged.
        if (this.#connections.size === 0) resolve();
        else this.#onLastGone = resolve;
      });
      for (const connection of this.#connections.keys()) connection.closeIdle();
    });
  }

  #shortenKeepAlive(): void {
    const { limits, targets } = this.#settings;
    const keepAliveTimeoutMs = Math.min(limits.keepAliveTimeoutMs, promisedKeepAliveMs);
    this.apply({ limits: { ...limits, keepAliveTimeoutMs }, targets });
  }

  #admit(socket: Socket, admits: (socket: Socket) => boolean): void {
    if (!admits(socket)) {
      socket.destroy();
      return;
    }
    this.#sockets.add(socket);
    socket.on('close', () => this.#sockets.delete(socket));
  }

  #accept(connection: ServedConnection<Exchange>, socket: Socket): void {
    this.#connections.set(connection, socket);
    this.#timer ??= this.#startPolling();
    socket.on('close', () => {
      this.#connections.delete(connection);
      if (this.#connections.size === 0) this.#onLastGone();
    });
  }

  /** Raw sockets in a TLS handshake, found by the address and port of the peer, which no connection's TLS socket has. */
  #shakingHands(): Socket[] {
    const peerOf = ({ remoteAddress, remotePort }: Socket) => `${remoteAddress} ${remotePort}`;
    const served = new Set([...this.#connections.values()].map(peerOf));
    return [...this.#sockets].filter((socket) => !served.has(peerOf(socket)));
  }

  #startPolling(): NodeJS.Timeout {
    return setInterval(() => this.#poll(), checkIntervalMs(this.#settings.limits)).unref();
  }

  #poll(): void {
    const now = performance.now();
    for (const connection of this.#connections.keys()) connection.checkTime(now);
    if (this.#connections.size === 0) this.#stopPolling();
  }

  #stopPolling(): void {
    if (this.#timer !== null) clearInterval(this.#timer);
    this.#timer = null;
  }

  /** True while timeouts are being checked. */
  get isChecked(): boolean {
    return this.#timer !== null;
  }

  #reset(): void {
    for (const connection of this.#connections.keys()) connection.cut();
    for (const socket of this.#sockets) socket.destroy();
  }
}

function connectionSettings({ limits, targets }: ServerSettings) {
  const keptSeconds = Math.floor(limits.keepAliveTimeoutMs / 1000);
  return {
    ...limits,
    targets,
    keepAlive: new FieldBlock(['Connection', 'keep-alive', 'Keep-Alive', `timeout=${keptSeconds}`]),
  };
}

/** Interval between checks of the timeouts, ms. */
export function checkIntervalMs(limits: TimeLimits): number {
  const { headerTimeoutMs, bodyIdleTimeoutMs, bodyJudgedAfterMs } = limits;
  const { writeIdleTimeoutMs, keepAliveTimeoutMs } = limits;
  const shortestMs = Math.min(
    headerTimeoutMs,
    bodyIdleTimeoutMs,
    bodyJudgedAfterMs,
    writeIdleTimeoutMs,
    keepAliveTimeoutMs,
  );
  return Math.min(1_000, Math.max(10, shortestMs / 4));
}

/** Creates the built-in engine's listener, for plain HTTP or TLS. */
function createSocketListener<Exchange extends ServerExchange>(
  { tls, limits, onHandshakeFailed }: ServerOptions<Exchange>,
  shared: ConnectionOptions<Exchange>,
  onConnection: (connection: ServedConnection<Exchange>, socket: Socket) => void,
): Listener {
  function accept(socket: Socket): void {
    if (socket.destroyed) return;
    // The connection itself handles a half-close from now on.
    socket.allowHalfOpen = true;
    onConnection(new ServerConnection(socket, shared), socket);
  }

  // A client that half-closes during its TLS handshake can't finish it, and must not keep its slot until the timeout.
  const socketOptions = { allowHalfOpen: tls === null, noDelay: true, pauseOnConnect: false };
  if (tls === null)
    return { server: createServer(socketOptions, accept), renewTls: () => {}, apply: () => {} };
  const server = createTlsServer({ ...socketOptions, ...tlsServerOptions(tls, limits.headerTimeoutMs) });
  const gate = new TlsGate(server, tls, onHandshakeFailed);
  server.on('secureConnection', (socket: TLSSocket) => {
    if (gate.admits(socket)) accept(socket);
  });
  return { server, renewTls: (renewed) => gate.renew(renewed), apply: () => {} };
}
