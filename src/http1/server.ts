import { type AddressInfo, createServer, type Server, type Socket } from 'node:net';
import { createServer as createTlsServer } from 'node:tls';
import type { TimeLimits } from './connection-clock.ts';
import type { ClientConnection, ConnectionOptions, ServerExchange } from './connection-options.ts';
import { ServerConnection } from './server-connection.ts';
import type { TargetLimits } from './target-limits.ts';

/** A certificate and its key as PEM. */
export interface CertificatePair {
  readonly cert: Buffer;
  readonly key: Buffer;
}

/** Bounds of a server; durations in milliseconds. */
export interface ServerLimits extends TimeLimits {
  /** Open connections; beyond it none is accepted. */
  readonly connections: number;
  /** Of a head; a long target in it doesn't count. */
  readonly headerBytes: number;
  /** 0: no bound. */
  readonly requestsPerConnection: number;
}

/** What of a server may change while it serves. */
export interface ServerSettings {
  readonly limits: ServerLimits;
  readonly targets: TargetLimits;
}

/** What a server is made of; what becomes of its requests is for the functions to say. */
export interface ServerOptions<Exchange extends ServerExchange>
  extends ServerSettings,
    Pick<ConnectionOptions<Exchange>, 'createExchange' | 'onRequest' | 'onUnreadable' | 'onClosed'> {
  /** PEM texts; null for plain HTTP. */
  readonly tls: CertificatePair | null;
  /** Whether a connection is served at all: false destroys it before its first byte, TLS included. */
  readonly admits: (socket: Socket) => boolean;
}

/** A listening HTTP/1.1 server that can be drained. */
export interface Http1Server {
  listen(host: string, port: number): Promise<AddressInfo>;
  /** New connections are served with this certificate. */
  renewCertificate(certificate: CertificatePair): void;
  /** From now on these count: bounds in time for every connection, the others for new ones. */
  apply(settings: ServerSettings): void;
  /** From now on responses carry `Connection: close`; connections are still accepted. */
  announceClose(): void;
  /** Accepts no more; resolves when what is in flight has finished, or after `timeoutMs`, when the rest is reset. */
  drain(timeoutMs: number): Promise<void>;
  /** Open client connections. */
  readonly connections: number;
}

/** What accepts connections and reads their requests. */
export interface Listener {
  readonly server: Server;
  /** New connections are served with this certificate. */
  renewCertificate(certificate: CertificatePair): void;
  /** From now on these bounds in time count, where the listener itself keeps them. */
  apply(limits: TimeLimits): void;
}

/** Builds a listener, which hands over every connection once it may send requests. */
export type CreateListener = <Exchange extends ServerExchange>(
  options: ServerOptions<Exchange>,
  shared: ConnectionOptions<Exchange>,
  onConnection: (connection: ClientConnection, socket: Socket) => void,
) => Listener;

/** Builds a server; it listens when it is told to. `createListener`: what reads requests, by default this engine. */
export function createHttp1Server<Exchange extends ServerExchange>(
  options: ServerOptions<Exchange>,
  createListener: CreateListener = createSocketListener,
): Http1Server {
  const { createExchange, onRequest, onUnreadable, onClosed } = options;
  const connections = new Set<ClientConnection>();
  /** Every socket accepted, those amid a TLS handshake too. */
  const sockets = new Set<Socket>();
  let closing = false;
  let onLastGone = () => {};

  const shared = {
    ...connectionSettings(options),
    encrypted: options.tls !== null,
    isClosing: () => closing,
    createExchange,
    onRequest,
    onUnreadable,
    onClosed,
  };

  const listener = createListener(options, shared, (connection, socket) => {
    connections.add(connection);
    socket.on('close', () => {
      connections.delete(connection);
      if (connections.size === 0) onLastGone();
    });
  });
  const { server } = listener;
  server.maxConnections = options.limits.connections;
  // Before whoever else is told of it, TLS included: what is one too many costs nothing more.
  server.prependListener('connection', (socket: Socket) => {
    if (!options.admits(socket)) {
      socket.destroy();
      return;
    }
    sockets.add(socket);
    socket.on('close', () => sockets.delete(socket));
  });

  let timer = startPolling(options.limits);

  function startPolling(limits: ServerLimits): NodeJS.Timeout {
    const poll = () => {
      const now = performance.now();
      for (const connection of connections) connection.checkTime(now);
    };
    return setInterval(poll, checkIntervalMs(limits)).unref();
  }

  return {
    get connections() {
      return connections.size;
    },
    listen: (host, port) =>
      new Promise((resolve, reject) => {
        server.once('error', reject);
        server.listen(port, host, () => {
          server.off('error', reject);
          resolve(server.address() as AddressInfo);
        });
      }),
    renewCertificate: (certificate) => listener.renewCertificate(certificate),
    apply(settings) {
      Object.assign(shared, connectionSettings(settings));
      listener.apply(settings.limits);
      server.maxConnections = settings.limits.connections;
      clearInterval(timer);
      timer = startPolling(settings.limits);
    },
    announceClose() {
      closing = true;
    },
    drain(timeoutMs) {
      closing = true;
      return new Promise((resolve) => {
        const resetTimer = setTimeout(() => {
          for (const connection of connections) connection.cut();
          for (const socket of sockets) socket.destroy();
        }, timeoutMs);
        server.close(() => {
          clearTimeout(resetTimer);
          clearInterval(timer);
          // Node counts a socket as closed before it tells us, and what was cut has its line in the log only then.
          if (connections.size === 0) resolve();
          else onLastGone = resolve;
        });
        for (const connection of connections) connection.closeWhenIdle();
      });
    },
  };
}

/** What connections are told of the settings. */
function connectionSettings({ limits, targets }: ServerSettings) {
  const keptSeconds = Math.floor(limits.keepAliveTimeoutMs / 1000);
  return {
    ...limits,
    targets,
    keepAliveFields: ['Connection', 'keep-alive', 'Keep-Alive', `timeout=${keptSeconds}`],
  };
}

/** How often connections have to be looked at, in milliseconds, for these bounds to be kept. */
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

/** What this engine listens with: sockets whose bytes it reads itself. */
function createSocketListener<Exchange extends ServerExchange>(
  { tls, limits }: ServerOptions<Exchange>,
  shared: ConnectionOptions<Exchange>,
  onConnection: (connection: ClientConnection, socket: Socket) => void,
): Listener {
  function accept(socket: Socket): void {
    if (socket.destroyed) return;
    // A client's half-close is ours to judge from now on.
    socket.allowHalfOpen = true;
    onConnection(new ServerConnection(socket, shared), socket);
  }

  // A client that half-closes during its TLS handshake can't finish it: it must not hold a place until the time-out.
  const socketOptions = { allowHalfOpen: tls === null, noDelay: true, pauseOnConnect: false };
  const handshakeTimeout = limits.headerTimeoutMs;
  const tlsServer =
    tls === null
      ? null
      : createTlsServer({ ...socketOptions, ...tls, ALPNProtocols: ['http/1.1'], handshakeTimeout }, accept);
  tlsServer?.on('tlsClientError', (_error, socket) => socket.destroy());
  return {
    server: tlsServer ?? createServer(socketOptions, accept),
    renewCertificate: (certificate) => tlsServer?.setSecureContext(certificate),
    apply: () => {},
  };
}
