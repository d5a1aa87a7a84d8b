import { type AddressInfo, createServer, type Server, type Socket } from 'node:net';
import { createServer as createTlsServer, type TLSSocket } from 'node:tls';
import { Server as GrpcServer, ServerCredentials, type UntypedServiceImplementation } from '@grpc/grpc-js';
import type { HandshakeFailure } from '../http1/handshake-failure.ts';
import { TlsGate, tlsServerOptions } from '../http1/tls-gate.ts';
import type { ListenerTls } from '../http1/tls-settings.ts';
import { type CheckRequest, type CheckResponse, loadCheckService } from './check-protocol.ts';

/** What a server for Envoy's questions calls. */
export interface CheckServerOptions {
  /** Null for h2c. */
  readonly tls: ListenerTls | null;
  readonly handshakeTimeoutMs: number;
  readonly hasRoom: () => boolean;
  readonly onConnectionRefused: () => void;
  readonly onHandshakeFailed: (failure: HandshakeFailure) => void;
  /** A question has come. */
  readonly onQuestion: (
    question: CheckRequest,
    socket: Socket,
    respond: (response: CheckResponse) => void,
  ) => void;
}

/** A head and what describes its connection are far smaller; a body is not asked for. */
const maxMessageBytes = 4 * 1024 * 1024;
/** How many questions one connection may ask at a time. */
const maxStreams = 1_000;

/** Serves `envoy.service.auth.v3.Authorization/Check`, over HTTP/2 without TLS or with it; `listen` starts it. */
export class CheckServer {
  readonly #options: CheckServerOptions;
  readonly #grpc = new GrpcServer({
    'grpc.max_receive_message_length': maxMessageBytes,
    'grpc.max_concurrent_streams': maxStreams,
    'grpc.enable_channelz': 0,
  });
  readonly #injector = this.#grpc.createConnectionInjector(ServerCredentials.createInsecure());
  readonly #server: Server;
  #gate: TlsGate | null = null;
  /** By address and port of the peer, as gRPC names it. */
  readonly #sockets = new Map<string, Socket>();

  constructor(options: CheckServerOptions) {
    this.#options = options;
    this.#grpc.addService(loadCheckService(), this.#implementation());
    this.#server =
      options.tls === null ? createServer({ noDelay: true }) : this.#createTlsServer(options.tls);
    this.#server.prependListener('connection', (socket: Socket) => this.#admit(socket));
    if (options.tls === null) this.#server.on('connection', (socket: Socket) => this.#accept(socket));
  }

  /** Open connections. */
  get sockets(): number {
    return this.#sockets.size;
  }

  /** `isShared`: other processes of this user may listen there, too. */
  listen(host: string, port: number, isShared: boolean): Promise<AddressInfo> {
    const server = this.#server;
    return new Promise((resolve, reject) => {
      server.once('error', reject);
      server.listen({ port, host, reusePort: isShared }, () => {
        server.off('error', reject);
        resolve(server.address() as AddressInfo);
      });
    });
  }

  /** Uses these settings for new connections. */
  renewTls(tls: ListenerTls): void {
    this.#gate?.renew(tls);
  }

  /** Accepts no more connections, and tells the others to open none; what is left after `timeoutMs` is reset. */
  drain(timeoutMs: number): Promise<void> {
    return new Promise((resolve) => {
      const timer = setTimeout(() => {
        for (const socket of this.#sockets.values()) socket.destroy();
      }, timeoutMs);
      this.#server.close(() => {
        clearTimeout(timer);
        this.#grpc.forceShutdown();
        resolve();
      });
      this.#injector.drain(timeoutMs);
    });
  }

  #implementation(): UntypedServiceImplementation {
    return {
      Check: (
        call: { readonly request: CheckRequest; getPeer(): string },
        callback: (error: null, response: CheckResponse) => void,
      ) => {
        const socket = this.#sockets.get(call.getPeer());
        // A proxy that has disconnected waits for no answer.
        if (socket === undefined) return;
        this.#options.onQuestion(call.request, socket, (response) => callback(null, response));
      },
    };
  }

  #createTlsServer(tls: ListenerTls): Server {
    const { handshakeTimeoutMs, onHandshakeFailed } = this.#options;
    const server = createTlsServer({ ...tlsServerOptions(tls, handshakeTimeoutMs), ALPNProtocols: ['h2'] });
    const gate = new TlsGate(server, tls, onHandshakeFailed);
    server.on('secureConnection', (socket: TLSSocket) => {
      if (gate.admits(socket)) this.#accept(socket);
    });
    this.#gate = gate;
    return server;
  }

  #admit(socket: Socket): void {
    const peer = `${socket.remoteAddress}:${socket.remotePort}`;
    this.#sockets.set(peer, socket);
    socket.on('close', () => this.#sockets.delete(peer));
    if (this.#options.hasRoom()) return;
    this.#options.onConnectionRefused();
    socket.destroy();
  }

  #accept(socket: Socket): void {
    if (!socket.destroyed) this.#injector.injectConnection(socket);
  }
}
