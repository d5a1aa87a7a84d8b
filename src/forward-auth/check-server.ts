import { type AddressInfo, createServer, type Server, type Socket } from 'node:net';
import { createServer as createTlsServer, type TLSSocket } from 'node:tls';
import { Server as GrpcServer, ServerCredentials, type UntypedServiceImplementation } from '@grpc/grpc-js';
import { shownSubject } from '../http1/distinguished-name.ts';
import type { HandshakeFailure } from '../http1/handshake-failure.ts';
import { TlsGate, tlsServerOptions } from '../http1/tls-gate.ts';
import { admitsOthers, type ListenerTls } from '../http1/tls-settings.ts';
import { type CheckRequest, type CheckResponse, loadCheckService } from './check-protocol.ts';

/** A connection of a proxy that asks. */
export interface CheckPeer {
  readonly socket: Socket;
  /** The subject of its verified certificate; null if it has shown none. */
  readonly clientCertificate: string | null;
}

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
    peer: CheckPeer,
    respond: (response: CheckResponse) => void,
  ) => void;
}

/** A head and what describes its connection are far smaller; a body is not asked for. */
const maxMessageBytes = 4 * 1024 * 1024;
/** How many questions one connection may ask at a time. */
const maxStreams = 1_000;
/** How long a connection that has to be replaced may wait for its answers. */
const retirementMs = 5_000;

/** Serves `envoy.service.auth.v3.Authorization/Check`, over HTTP/2 without TLS or with it; `listen` starts it. */
export class CheckServer {
  readonly #options: CheckServerOptions;
  readonly #grpc = new GrpcServer({
    'grpc.max_receive_message_length': maxMessageBytes,
    'grpc.max_concurrent_streams': maxStreams,
    'grpc.enable_channelz': 0,
  });
  #injector = this.#createInjector();
  readonly #server: Server;
  #gate: TlsGate | null = null;
  #tls: ListenerTls | null;
  /** Both by address and port, as gRPC names a peer. A socket of TLS is another one than that of its server. */
  readonly #peers = new Map<string, CheckPeer>();
  readonly #shakingHands = new Map<string, Socket>();

  constructor(options: CheckServerOptions) {
    this.#options = options;
    this.#tls = options.tls;
    this.#grpc.addService(loadCheckService(), this.#implementation());
    this.#server =
      options.tls === null ? createServer({ noDelay: true }) : this.#createTlsServer(options.tls);
    this.#server.prependListener('connection', (socket: Socket) => this.#admit(socket));
    if (options.tls === null) this.#server.on('connection', (socket: Socket) => this.#accept(socket, null));
  }

  /** Open connections. */
  get sockets(): number {
    return this.#peers.size + this.#shakingHands.size;
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

  /**
   * Uses these settings for new connections. When other clients are admitted from now on, those that are connected have to
   * reconnect: they are told to ask no more, and handshakes in progress are cut.
   */
  renewTls(tls: ListenerTls): void {
    this.#gate?.renew(tls);
    if (admitsOthers(this.#tls, tls)) {
      for (const socket of this.#shakingHands.values()) socket.destroy();
      this.#injector.drain(retirementMs);
      // The former one would in the end cut new connections, too.
      this.#injector = this.#createInjector();
    }
    this.#tls = tls;
  }

  /** Accepts no more connections, and tells the others to open none; what is left after `timeoutMs` is reset. */
  drain(timeoutMs: number): Promise<void> {
    return new Promise((resolve) => {
      const timer = setTimeout(() => {
        for (const socket of this.#shakingHands.values()) socket.destroy();
        for (const { socket } of this.#peers.values()) socket.destroy();
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
        const peer = this.#peers.get(call.getPeer());
        // A proxy that has disconnected waits for no answer.
        if (peer === undefined) return;
        this.#options.onQuestion(call.request, peer, (response) => callback(null, response));
      },
    };
  }

  #createTlsServer(tls: ListenerTls): Server {
    const { handshakeTimeoutMs, onHandshakeFailed } = this.#options;
    const server = createTlsServer({ ...tlsServerOptions(tls, handshakeTimeoutMs), ALPNProtocols: ['h2'] });
    const gate = new TlsGate(server, tls, onHandshakeFailed);
    server.on('secureConnection', (socket: TLSSocket) => {
      if (gate.admits(socket)) this.#accept(socket, shownSubject(socket));
    });
    this.#gate = gate;
    return server;
  }

  #createInjector() {
    return this.#grpc.createConnectionInjector(ServerCredentials.createInsecure());
  }

  #admit(socket: Socket): void {
    const name = nameOf(socket);
    this.#shakingHands.set(name, socket);
    socket.on('close', () => this.#shakingHands.delete(name));
    if (this.#options.hasRoom()) return;
    this.#options.onConnectionRefused();
    socket.destroy();
  }

  #accept(socket: Socket, clientCertificate: string | null): void {
    if (socket.destroyed) return;
    const name = nameOf(socket);
    this.#shakingHands.delete(name);
    this.#peers.set(name, { socket, clientCertificate });
    socket.on('close', () => this.#peers.delete(name));
    this.#injector.injectConnection(socket);
  }
}

function nameOf({ remoteAddress, remotePort }: Socket): string {
  return `${remoteAddress}:${remotePort}`;
}
