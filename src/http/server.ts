import { randomUUID } from 'node:crypto';
import {
  createServer,
  type IncomingMessage,
  type Server,
  type ServerResponse,
  STATUS_CODES,
} from 'node:http';
import { createServer as createTlsServer } from 'node:https';
import type { AddressInfo, Socket } from 'node:net';
import { Refusal } from '../errors.ts';
import type { TrustedProxies } from './client-address.ts';
import { Exchange } from './exchange.ts';
import { isUnreadable, type ParserError, parserRefusal } from './parser-refusal.ts';
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

/** What is owed on a connection. */
interface Connection {
  /** Requests whose answers are not over, in their order. */
  readonly inFlight: Exchange[];
  /** What ends the connection once nothing is in flight; null while it may go on. */
  ending: (() => void) | null;
}

/** How long a client that was refused for bytes that are no request may go on sending before it is cut off. */
const lingerMs = 1_000;

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
    const { inFlight } = connection;
    if (closing) response.shouldKeepAlive = false;
    const exchange = new Exchange(request, response, options.proxies, expectsContinue);
    inFlight.push(exchange);
    response.on('close', () => {
      options.onClosed(exchange);
      if (inFlight[0] === exchange) inFlight.shift();
      else inFlight.splice(inFlight.indexOf(exchange), 1);
      if (inFlight.length > 0) return;
      connection.ending?.();
      if (draining) request.socket.destroySoon();
    });
    return exchange;
  }

  function connectionOf(socket: Socket): Connection {
    let connection = connections.get(socket);
    if (connection === undefined) {
      connection = { inFlight: [], ending: null };
      connections.set(socket, connection);
    }
    return connection;
  }

  function serve(request: IncomingMessage, response: ServerResponse, expectsContinue = false): void {
    const exchange = accept(request, response, expectsContinue);
    const refusal = refusalOf(exchange);
    if (refusal === null) options.onExchange(exchange);
    else options.onRefused(exchange, refusal);
  }

  /** What the head alone is refused for, before anybody looks at what it means. */
  function refusalOf({ request, head, target }: Exchange): Refusal | null {
    // The parser takes 0.9 and 2.0 for messages of ours.
    if (request.httpVersionMajor !== 1 || request.httpVersionMinor > 1)
      return new Refusal('version_not_supported', { close: true });
    if (head.raw.length > 2 * limits.headerCount) return new Refusal('headers_too_large', { close: true });
    if (target.length > limits.targetBytes) return new Refusal('target_too_long', { close: true });
    return null;
  }

  server.on('request', (request, response) => serve(request, response));
  server.on('checkContinue', (request, response) => serve(request, response, true));
  server.on('checkExpectation', (request, response) => {
    options.onRefused(accept(request, response, false), new Refusal('expectation_failed', { close: true }));
  });
  server.on('connect', (_request, duplex) => {
    const socket = duplex as Socket;
    // Node has let go of the connection: errors and the back-pressure of answers under way are ours now.
    socket.on('error', () => socket.destroy());
    socket.on('drain', () => connectionOf(socket).inFlight[0]?.response.emit('drain'));
    endWith(socket, new Refusal('method_not_allowed', { allow: forwardedMethods }));
  });
  server.on('clientError', (error: ParserError, duplex) => {
    const socket = duplex as Socket;
    const connection = connectionOf(socket);
    // Once the end is decided, whatever else comes is reported as another error.
    if (connection.ending !== null && isUnreadable(error)) return;
    if (!isUnreadable(error) || !socket.writable) return void socket.destroy();
    const refusal = parserRefusal(error);
    const newest = connection.inFlight.at(-1);
    if (newest === undefined || newest.request.complete) {
      if (error.code !== 'HPE_CLOSED_CONNECTION') endWith(socket, refusal);
      return;
    }
    // It is the body of a request under way that broke: that request fails, in its turn, and the connection ends.
    connection.ending = () => socket.destroy();
    if (!newest.breakBody(refusal) && !newest.response.headersSent) options.onRefused(newest, refusal);
  });

  /** Answers that are owed come first, whole; nothing is ever written into a started one. */
  function endWith(socket: Socket, refusal: Refusal): void {
    const connection = connectionOf(socket);
    connection.ending = () => refuseRaw(socket, refusal);
    if (connection.inFlight.length === 0) connection.ending();
  }

  function refuseRaw(socket: Socket, refusal: Refusal): void {
    options.onUnreadable(refusal, socket.remoteAddress ?? '');
    if (!socket.writable) return void socket.destroy();
    socket.end(rawRefusal(refusal, options.realm));
    // Closing with unread bytes would reset the connection, and the client might never read why (RFC 9112 §9.6).
    socket.resume();
    const timer = setTimeout(() => socket.destroy(), lingerMs);
    socket.on('close', () => clearTimeout(timer));
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

/** A refusal as the bytes of an answer, where there is no request to answer. */
function rawRefusal(refusal: Refusal, realm: string): string {
  const id = randomUUID();
  const { status, headers, body } = refusalParts(refusal, realm, id, false);
  const text = JSON.stringify(body);
  const lines = [
    `HTTP/1.1 ${status} ${STATUS_CODES[status]}`,
    `X-Request-Id: ${id}`,
    'Cache-Control: no-store',
    'Content-Type: application/json',
    `Content-Length: ${Buffer.byteLength(text)}`,
    'Connection: close',
  ];
  for (let i = 0; i < headers.length; i += 2) lines.push(`${headers[i]}: ${headers[i + 1]}`);
  return `${lines.join('\r\n')}\r\n\r\n${text}`;
}

/** Methods named in `Allow` where the path has not been judged. */
export const forwardedMethods = ['GET', 'HEAD', 'POST', 'PUT', 'PATCH', 'DELETE', 'OPTIONS'] as const;
