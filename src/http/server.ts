import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import { createServer as createTlsServer } from 'node:https';
import type { AddressInfo, Socket } from 'node:net';
import { Refusal } from '../errors.ts';
import type { TrustedProxies } from './client-address.ts';
import { Exchange } from './exchange.ts';
import { parserRefusal } from './parser-refusal.ts';
import { refusalParts } from './reply.ts';

/** Bounds of the public listener; durations in milliseconds. */
export interface ServerLimits {
  readonly connections: number;
  readonly targetBytes: number;
  readonly headerBytes: number;
  readonly headerCount: number;
  readonly headerTimeoutMs: number;
  readonly keepAliveTimeoutMs: number;
  /** 0: no bound. */
  readonly requestsPerConnection: number;
}

export interface ServerOptions {
  readonly limits: ServerLimits;
  readonly proxies: TrustedProxies;
  /** The tenant, for challenges. */
  readonly realm: string;
  /** PEM texts; null for plain HTTP. */
  readonly tls: { readonly cert: Buffer; readonly key: Buffer } | null;
  /** Answers the exchange; never throws. */
  readonly onExchange: (exchange: Exchange) => void;
  /** Refuses an exchange for what its head says, before it counts as a request of any route. */
  readonly onRefused: (exchange: Exchange, refusal: Refusal) => void;
  /** Told once an exchange is over, however it ended. */
  readonly onClosed: (exchange: Exchange) => void;
  /** Told of every refusal that never became an exchange. */
  readonly onUnreadable: (refusal: Refusal, peer: string) => void;
}

/** A listening HTTP server that can be drained. */
export interface PublicServer {
  listen(host: string, port: number): Promise<AddressInfo>;
  /** From now on answers carry `Connection: close`; connections are still accepted. */
  announceClose(): void;
  /** Accepts no more; resolves when what is in flight has finished, or after `timeoutMs`, when the rest is reset. */
  drain(timeoutMs: number): Promise<void>;
}

/** Requests in flight on a connection, the newest of them, and what to do once there are none. */
interface Connection {
  pending: number;
  newest: Exchange | null;
  afterLast: (() => void) | null;
}

/** Builds the public listener. Framing and limits are judged here, before anything else sees the request. */
export function createPublicServer(options: ServerOptions): PublicServer {
  const { limits } = options;
  const connections = new WeakMap<Socket, Connection>();
  let closing = false;
  let draining = false;

  const nodeOptions = {
    maxHeaderSize: limits.headerBytes,
    headersTimeout: limits.headerTimeoutMs,
    // A body may take as long as it keeps coming: its own idle time-out is ours.
    requestTimeout: 0,
    keepAliveTimeout: limits.keepAliveTimeoutMs,
    connectionsCheckingInterval: 1_000,
    insecureHTTPParser: false,
    // Judged by ourselves, with our own answer.
    requireHostHeader: false,
    noDelay: true,
  } as const;
  const server: Server =
    options.tls === null ? createServer(nodeOptions) : createTlsServer({ ...nodeOptions, ...options.tls });
  server.maxHeadersCount = 0;
  server.maxConnections = limits.connections;
  server.maxRequestsPerSocket = limits.requestsPerConnection;

  function accept(request: IncomingMessage, response: ServerResponse, expectsContinue: boolean): Exchange {
    const connection = connectionOf(request.socket);
    connection.pending++;
    if (closing) response.shouldKeepAlive = false;
    const exchange = new Exchange(request, response, options.proxies, expectsContinue);
    connection.newest = exchange;
    response.on('close', () => {
      options.onClosed(exchange);
      connection.pending--;
      if (connection.pending > 0) return;
      connection.afterLast?.();
      if (draining) request.socket.destroySoon();
    });
    return exchange;
  }

  function connectionOf(socket: Socket): Connection {
    let connection = connections.get(socket);
    if (connection === undefined) {
      connection = { pending: 0, newest: null, afterLast: null };
      connections.set(socket, connection);
    }
    return connection;
  }

  function serve(request: IncomingMessage, response: ServerResponse, expectsContinue = false): void {
    const exchange = accept(request, response, expectsContinue);
    if (exchange.head.raw.length > 2 * limits.headerCount)
      options.onRefused(exchange, new Refusal('headers_too_large', { close: true }));
    else if (exchange.target.length > limits.targetBytes)
      options.onRefused(exchange, new Refusal('target_too_long', { close: true }));
    else options.onExchange(exchange);
  }

  server.on('request', (request, response) => serve(request, response));
  server.on('checkContinue', (request, response) => serve(request, response, true));
  server.on('checkExpectation', (request, response) => {
    options.onRefused(accept(request, response, false), new Refusal('expectation_failed', { close: true }));
  });
  server.on('connect', (_request, socket) => {
    refuseRaw(socket as Socket, new Refusal('method_not_allowed', { allow: forwardedMethods }));
  });
  server.on(
    'clientError',
    (error: NodeJS.ErrnoException & { rawPacket?: Buffer; bytesParsed?: number }, duplex) => {
      const socket = duplex as Socket;
      if (error.code === 'ECONNRESET' || !socket.writable) return void socket.destroy();
      const refusal = parserRefusal(error);
      const connection = connectionOf(socket);
      const { newest } = connection;
      if (connection.pending > 0 && newest !== null && !newest.request.complete) {
        // It is the body of a request under way that broke: that request fails, in its turn, and the connection ends.
        connection.afterLast = () => socket.destroy();
        if (!newest.breakBody(refusal) && !newest.response.headersSent) options.onRefused(newest, refusal);
        return;
      }
      // Answers that are owed come first, whole; nothing is ever written into a started one.
      if (connection.pending === 0) refuseRaw(socket, refusal);
      else connection.afterLast = () => refuseRaw(socket, refusal);
    },
  );

  function refuseRaw(socket: Socket, refusal: Refusal): void {
    options.onUnreadable(refusal, socket.remoteAddress ?? '');
    if (socket.destroyed || !socket.writable) return void socket.destroy();
    const id = crypto.randomUUID();
    const { status, headers, body } = refusalParts(refusal, options.realm, id, false);
    const text = JSON.stringify(body);
    const lines = [
      `HTTP/1.1 ${status} ${refusal.code}`,
      `X-Request-Id: ${id}`,
      'Cache-Control: no-store',
      'Content-Type: application/json',
      `Content-Length: ${Buffer.byteLength(text)}`,
      'Connection: close',
    ];
    for (let i = 0; i < headers.length; i += 2) lines.push(`${headers[i]}: ${headers[i + 1]}`);
    socket.end(`${lines.join('\r\n')}\r\n\r\n${text}`, () => socket.destroy());
  }

  return {
    listen: (host, port) =>
      new Promise((resolve, reject) => {
        server.once('error', reject);
        server.listen(port, host, () => {
          server.off('error', reject);
          resolve(server.address() as AddressInfo);
        });
      }),
    announceClose() {
      closing = true;
    },
    drain(timeoutMs) {
      closing = true;
      draining = true;
      return new Promise((resolve) => {
        const timer = setTimeout(() => server.closeAllConnections(), timeoutMs);
        server.close(() => {
          clearTimeout(timer);
          resolve();
        });
        server.closeIdleConnections();
      });
    },
  };
}

/** Methods named in `Allow` where the path has not been judged. */
export const forwardedMethods = ['GET', 'HEAD', 'POST', 'PUT', 'PATCH', 'DELETE', 'OPTIONS'] as const;
