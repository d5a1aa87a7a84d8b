import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import { createServer as createTlsServer } from 'node:https';
import type { Socket } from 'node:net';
import type { Duplex } from 'node:stream';
import type { TimeLimits } from '../http1/connection-clock.ts';
import type { ClientConnection, ConnectionOptions, ServerExchange } from '../http1/connection-options.ts';
import { hasBody, requestFraming } from '../http1/request-framing.ts';
import { checkIntervalMs, type Listener, type ServerOptions } from '../http1/server.ts';
import { NodeConnection } from './connection.ts';

/** Listens with `node:http`: what a client sends is read by Node's parser, llhttp. */
export function createNodeListener<Exchange extends ServerExchange>(
  { limits, targets, tls }: ServerOptions<Exchange>,
  shared: ConnectionOptions<Exchange>,
  onConnection: (connection: ClientConnection, socket: Socket) => void,
): Listener {
  const connections = new WeakMap<Duplex, NodeConnection<Exchange>>();
  const settings = {
    // Judged exactly once the head is there, as the built-in engine counts it.
    maxHeaderSize: limits.headerBytes + targets.maxUncountedBytes,
    // Ours to refuse, with a response that says why.
    requireHostHeader: false,
    requestTimeout: 0,
    headersTimeout: limits.headerTimeoutMs,
    keepAliveTimeout: limits.keepAliveTimeoutMs,
    keepAliveTimeoutBuffer: 0,
    connectionsCheckingInterval: checkIntervalMs(limits),
    shouldUpgradeCallback: asksForAnotherProtocol,
  };
  const handshakeTimeout = limits.headerTimeoutMs;
  const server =
    tls === null
      ? createServer(settings)
      : createTlsServer({ ...settings, ...tls, ALPNProtocols: ['http/1.1'], handshakeTimeout });
  // Node would drop the rest without a word.
  server.maxHeadersCount = 0;

  const onRequest = (request: IncomingMessage, response: ServerResponse) =>
    connections.get(request.socket)?.receive({ request, response, early: Buffer.alloc(0) });
  const onDetached = (request: IncomingMessage, _socket: Duplex, early: Buffer) =>
    connections.get(request.socket)?.receive({ request, response: null, early });
  server.on('request', onRequest).on('checkContinue', onRequest).on('checkExpectation', onRequest);
  server.on('upgrade', onDetached).on('connect', onDetached);
  server.on('clientError', (error, socket) => {
    const connection = connections.get(socket);
    if (connection === undefined) socket.destroy();
    else connection.receiveError(error);
  });
  server.on('tlsClientError', (_error, socket) => socket.destroy());
  server.on(tls === null ? 'connection' : 'secureConnection', (socket: Socket) => {
    if (socket.destroyed) return;
    const connection = new NodeConnection(socket, shared);
    connections.set(socket, connection);
    onConnection(connection, socket);
  });
  return {
    server,
    renewCertificate(certificate) {
      if ('setSecureContext' in server) server.setSecureContext(certificate);
    },
    apply(bounds: TimeLimits) {
      server.headersTimeout = bounds.headerTimeoutMs;
      server.keepAliveTimeout = bounds.keepAliveTimeoutMs;
    },
  };
}

/** Node stops reading HTTP once it takes a request for an upgrade, which it must not do while a body follows. */
function asksForAnotherProtocol({ httpVersionMinor, rawHeaders }: IncomingMessage): boolean {
  return !hasBody(requestFraming(httpVersionMinor, rawHeaders));
}
