import { createServer, type IncomingMessage, ServerResponse } from 'node:http';
import { createServer as createTlsServer } from 'node:https';
import type { Socket } from 'node:net';
import type { Duplex } from 'node:stream';
import type { TLSSocket } from 'node:tls';
import { hasBody, requestFraming } from '../http1/message/request-framing.ts';
import type { ConnectionOptions, ServerExchange } from '../http1/server/connection-options.ts';
import {
  checkIntervalMs,
  type Listener,
  type ServerOptions,
  type ServerSettings,
} from '../http1/server/server.ts';
import { TlsGate, tlsServerOptions } from '../http1/server/tls-gate.ts';
import { NodeConnection } from './connection.ts';

/** Creates a listener of `node:http`, which reads requests with Node's parser, llhttp. */
export function createNodeListener<Exchange extends ServerExchange>(
  options: ServerOptions<Exchange>,
  shared: ConnectionOptions<Exchange>,
  onConnection: (connection: NodeConnection<Exchange>, socket: Socket) => void,
): Listener {
  const { limits, tls } = options;
  const connections = new WeakMap<Duplex, NodeConnection<Exchange>>();
  const settings = {
    // Refused by us, with a response that states the reason.
    requireHostHeader: false,
    requestTimeout: 0,
    keepAliveTimeoutBuffer: 0,
    connectionsCheckingInterval: checkIntervalMs(limits),
    shouldUpgradeCallback: asksForAnotherProtocol,
  };
  const tlsServer =
    tls === null ? null : createTlsServer({ ...settings, ...tlsServerOptions(tls, limits.headerTimeoutMs) });
  const gate = tlsServer === null ? null : new TlsGate(tlsServer, tls!, options.onHandshakeFailed);
  const server = tlsServer ?? createServer(settings);
  apply(options);
  // Called when the server closes, also for connections with half a head; ours close themselves.
  server.closeIdleConnections = () => {};
  const onRequest = (_request: IncomingMessage, response: ServerResponse) =>
    connections.get(response.req.socket)?.receive(response);
  server.on('request', onRequest).on('checkContinue', onRequest).on('checkExpectation', onRequest);
  const onDetached = (request: IncomingMessage, socket: Duplex, early: Buffer) => {
    socket.unshift(early);
    connections.get(socket)?.receive(new ServerResponse(request));
  };
  server.on('upgrade', onDetached).on('connect', onDetached);
  server.on('clientError', (error, socket) => {
    const connection = connections.get(socket);
    if (connection === undefined) socket.destroy();
    else connection.receiveError(error);
  });
  server.on(tls === null ? 'connection' : 'secureConnection', (socket: Socket) => {
    if (socket.destroyed || gate?.admits(socket as TLSSocket) === false) return;
    const connection = new NodeConnection(socket, shared);
    connections.set(socket, connection);
    onConnection(connection, socket);
  });

  /** Applies limits: Node reads the timeouts at each use, but the maximum head size once for each connection. */
  function apply({ limits, targets }: ServerSettings): void {
    Object.assign(server, {
      // An upper bound: the complete head is measured as in the built-in engine.
      maxHeaderSize: limits.headerBytes + targets.maxUncountedBytes,
      // Node would drop further headers silently.
      maxHeadersCount: 0,
      headersTimeout: limits.headerTimeoutMs,
      keepAliveTimeout: limits.keepAliveTimeoutMs,
    });
  }

  return { server, apply, renewTls: (renewed) => gate?.renew(renewed) };
}

/** True if Node may treat the request as an upgrade, after which it no longer reads HTTP: only if no body follows. */
function asksForAnotherProtocol({ httpVersion, rawHeaders }: IncomingMessage): boolean {
  return httpVersion === '1.1' && !hasBody(requestFraming(1, rawHeaders));
}
