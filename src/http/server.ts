import { type AddressInfo, createServer, type Server, type Socket } from 'node:net';
import { createServer as createTlsServer } from 'node:tls';
import { Refusal } from '../errors.ts';
import type { Certificate } from './certificate-files.ts';
import type { TrustedProxies } from './client-address.ts';
import { ClientConnection } from './client-connection.ts';
import { ConnectionsByAddress } from './connections-by-address.ts';
import type { Exchange } from './exchange.ts';
import { unreadableAnswer } from './reply.ts';
import { createTargetLimits, type LongTargets } from './target-limits.ts';

/** Bounds of the public listener; durations in milliseconds. */
export interface ServerLimits {
  readonly connections: number;
  /** Of one client address, an IPv6 network of 64 bits being one; 0: no bound. */
  readonly connectionsPerAddress: number;
  readonly targetBytes: number;
  /** Of a head; a long target in it doesn't count. */
  readonly headerBytes: number;
  readonly headerCount: number;
  readonly headerTimeoutMs: number;
  readonly bodyIdleTimeoutMs: number;
  /** How long a body is read before its rate is judged. */
  readonly bodyJudgedAfterMs: number;
  readonly writeIdleTimeoutMs: number;
  readonly keepAliveTimeoutMs: number;
  /** 0: no bound. */
  readonly requestsPerConnection: number;
}

/** What of a listener may change while it serves. */
export interface ServerSettings {
  readonly limits: ServerLimits;
  /** Default: there are none. */
  readonly longTargets?: LongTargets;
  readonly proxies: TrustedProxies;
}

export interface ServerOptions extends ServerSettings {
  /** The tenant, for challenges. */
  readonly realm: string;
  /** PEM texts; null for plain HTTP. */
  readonly tls: Certificate | null;
  /** Answers the exchange; never throws. */
  readonly onExchange: (exchange: Exchange) => void;
  /** Refuses an exchange for the size of its head, before it counts as a request of any route. */
  readonly onRefused: (exchange: Exchange, refusal: Refusal) => void;
  /** Told once an exchange is over, however it ended. */
  readonly onClosed: (exchange: Exchange) => void;
  /** Told of every refusal that never became an exchange. */
  readonly onUnreadable: (refusal: Refusal, peer: string) => void;
}

/** A listening HTTP/1.1 server that can be drained. */
export interface PublicServer {
  listen(host: string, port: number): Promise<AddressInfo>;
  /** New connections are served with this certificate. */
  renewCertificate(certificate: Certificate): void;
  /** From now on these count: bounds in time for every connection, the others for new ones. */
  apply(settings: ServerSettings): void;
  /** From now on answers carry `Connection: close`; connections are still accepted. */
  announceClose(): void;
  /** Accepts no more; resolves when what is in flight has finished, or after `timeoutMs`, when the rest is reset. */
  drain(timeoutMs: number): Promise<void>;
  /** Open client connections. */
  readonly connections: number;
}

/** Builds the public listener. Framing and limits are judged here, before anything else sees the request. */
export function createPublicServer(options: ServerOptions): PublicServer {
  const connections = new Set<ClientConnection>();
  /** Every socket accepted, those amid a TLS handshake too. */
  const sockets = new Set<Socket>();
  const byAddress = new ConnectionsByAddress();
  let closing = false;
  let onLastGone = () => {};

  const shared = {
    ...connectionSettings(options),
    encrypted: options.tls !== null,
    isClosing: () => closing,
    onRequest(exchange: Exchange) {
      if (exchange.head.raw.length > 2 * shared.headerCount)
        options.onRefused(exchange, new Refusal('headers_too_large', { close: true }));
      else if (shared.targets.isTooLong(exchange.method, exchange.path, exchange.target.length))
        options.onRefused(exchange, new Refusal('target_too_long', { close: true }));
      else options.onExchange(exchange);
    },
    onUnreadable(refusal: Refusal, peer: string) {
      options.onUnreadable(refusal, peer);
      return unreadableAnswer(refusal, options.realm);
    },
    onClosed: options.onClosed,
  };

  function accept(socket: Socket): void {
    if (socket.destroyed) return;
    // A client's half-close is ours to judge from now on.
    socket.allowHalfOpen = true;
    const connection = new ClientConnection(socket, shared);
    connections.add(connection);
    socket.on('close', () => {
      connections.delete(connection);
      if (connections.size === 0) onLastGone();
    });
  }

  // A client that half-closes during its TLS handshake can't finish it: it must not hold a place until the time-out.
  const socketOptions = { allowHalfOpen: options.tls === null, noDelay: true, pauseOnConnect: false };
  const tlsServer =
    options.tls === null
      ? null
      : createTlsServer(
          {
            ...socketOptions,
            ...options.tls,
            ALPNProtocols: ['http/1.1'],
            handshakeTimeout: options.limits.headerTimeoutMs,
          },
          accept,
        );
  tlsServer?.on('tlsClientError', (_error, socket) => socket.destroy());
  const server: Server = tlsServer ?? createServer(socketOptions, accept);
  server.maxConnections = options.limits.connections;
  // Before whoever else is told of it, TLS included: what is one too many costs nothing more.
  server.prependListener('connection', (socket: Socket) => {
    if (!byAddress.admit(socket, shared.connectionsPerAddress)) {
      socket.destroy();
      return;
    }
    sockets.add(socket);
    socket.on('close', () => sockets.delete(socket));
  });

  let timer = startLooking(options.limits);

  function startLooking(limits: ServerLimits): NodeJS.Timeout {
    const look = () => {
      const now = performance.now();
      for (const connection of connections) connection.checkTime(now);
    };
    return setInterval(look, Math.min(1_000, Math.max(10, shortestOf(limits) / 4))).unref();
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
    renewCertificate: (certificate) => tlsServer?.setSecureContext(certificate),
    apply(settings) {
      Object.assign(shared, connectionSettings(settings));
      server.maxConnections = settings.limits.connections;
      clearInterval(timer);
      timer = startLooking(settings.limits);
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
function connectionSettings({ limits, longTargets, proxies }: ServerSettings) {
  const keptSeconds = Math.floor(limits.keepAliveTimeoutMs / 1000);
  return {
    ...limits,
    targets: createTargetLimits(limits.targetBytes, longTargets ?? { maxBytes: 0, has: () => false }),
    proxies,
    keepAliveText: `Connection: keep-alive\r\nKeep-Alive: timeout=${keptSeconds}\r\n`,
  };
}

function shortestOf(limits: ServerLimits): number {
  const { headerTimeoutMs, bodyIdleTimeoutMs, bodyJudgedAfterMs } = limits;
  const { writeIdleTimeoutMs, keepAliveTimeoutMs } = limits;
  return Math.min(
    headerTimeoutMs,
    bodyIdleTimeoutMs,
    bodyJudgedAfterMs,
    writeIdleTimeoutMs,
    keepAliveTimeoutMs,
  );
}
