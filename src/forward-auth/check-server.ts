import { performServerHandshake, type ServerHttp2Session } from 'node:http2';
import { type AddressInfo, createServer, type Server, type Socket } from 'node:net';
import { createServer as createTlsServer, type TLSSocket } from 'node:tls';
import { shownSubject } from '../http1/message/distinguished-name.ts';
import type { RequestChannel } from '../http1/server/connection-options.ts';
import type { HandshakeFailure } from '../http1/server/handshake-failure.ts';
import { listen } from '../http1/server/listen.ts';
import { TlsGate, tlsServerOptions } from '../http1/server/tls-gate.ts';
import { admitsOthers, type ListenerTls } from '../http1/server/tls-settings.ts';
import { type CheckRequest, type CheckResponse, checkPath, createCheckCodec } from './check-protocol.ts';
import { serveUnary } from './grpc-unary.ts';

interface CheckServerOptions {
  /** Null for h2c. */
  readonly tls: ListenerTls | null;
  readonly handshakeTimeoutMs: number;
  /** True if a connection that has just been opened is kept; called before its first byte, even of TLS. */
  readonly admits: (socket: Socket) => boolean;
  readonly onHandshakeFailed: (failure: HandshakeFailure) => void;
  /** Creates the channel of a connection's check requests; the certificate's subject is null if the peer has presented none. */
  readonly createChannel: (socket: Socket, clientCertificate: string | null) => RequestChannel;
  /** True if the peer may ask at all. */
  readonly mayAsk: (channel: RequestChannel) => boolean;
  /** Called for each check request; `question` is empty if the request was unreadable or its peer may not ask. */
  readonly onQuestion: (
    question: CheckRequest,
    channel: RequestChannel,
    respond: (response: CheckResponse) => void,
  ) => void;
}

/** Maximum size of a message: heads are far smaller, and Envoy sends no bodies. */
const maxMessageBytes = 4 * 1024 * 1024;
/** Limits of a connection: concurrent check requests, and the memory of its HTTP/2 session, MB. */
const sessionOptions = { settings: { maxConcurrentStreams: 1_000 }, maxSessionMemory: 64 };
/** Time, ms, for open answers on a connection whose peer has to reconnect; then the connection is cut. */
const retirementMs = 5_000;

/** Serves `envoy.service.auth.v3.Authorization/Check` over HTTP/2, with or without TLS; `listen` starts it. */
export class CheckServer {
  readonly #options: CheckServerOptions;
  readonly #codec = createCheckCodec();
  readonly #server: Server;
  #gate: TlsGate | null = null;
  #tls: ListenerTls | null;
  readonly #sessions = new Map<Socket, ServerHttp2Session>();
  /** Raw sockets during their TLS handshake, by address and port, because the TLS socket that follows is another object. */
  readonly #shakingHands = new Map<string, Socket>();

  constructor(options: CheckServerOptions) {
    this.#options = options;
    this.#tls = options.tls;
    this.#server =
      options.tls === null ? createServer({ noDelay: true }) : this.#createTlsServer(options.tls);
    this.#server.prependListener('connection', (socket: Socket) => this.#admit(socket));
    if (options.tls === null) this.#server.on('connection', (socket: Socket) => this.#accept(socket, null));
  }

  /** Starts to listen; `isShared`: other processes of this user may listen there, too. */
  listen(host: string, port: number, isShared: boolean): Promise<AddressInfo> {
    return listen(this.#server, { port, host, reusePort: isShared });
  }

  /** Uses these settings for new connections; if they might refuse connected clients, all have to reconnect, after a GOAWAY. */
  renewTls(tls: ListenerTls): void {
    this.#gate?.renew(tls);
    if (admitsOthers(this.#tls, tls)) {
      for (const socket of this.#shakingHands.values()) socket.destroy();
      const former = [...this.#sessions];
      for (const [, session] of former) session.close();
      setTimeout(() => {
        for (const [socket] of former) socket.destroy();
      }, retirementMs).unref();
    }
    this.#tls = tls;
  }

  /** Does nothing: HTTP/2 has no `Connection: close`, and the drain sends GOAWAY. */
  announceClose(): void {}

  /** Stops accepting, and sends GOAWAY on open connections; resolves when all are closed. After `timeoutMs` the rest are cut. */
  drain(timeoutMs: number): Promise<void> {
    return new Promise((resolve) => {
      const timer = setTimeout(() => {
        for (const socket of this.#shakingHands.values()) socket.destroy();
        for (const socket of this.#sessions.keys()) socket.destroy();
      }, timeoutMs);
      this.#server.close(() => {
        clearTimeout(timer);
        resolve();
      });
      for (const session of this.#sessions.values()) session.close();
    });
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

  #admit(socket: Socket): void {
    const name = nameOf(socket);
    this.#shakingHands.set(name, socket);
    socket.on('close', () => this.#shakingHands.delete(name));
    if (!this.#options.admits(socket)) socket.destroy();
  }

  #accept(socket: Socket, clientCertificate: string | null): void {
    if (socket.destroyed) return;
    this.#shakingHands.delete(nameOf(socket));
    const session = performServerHandshake(socket, sessionOptions);
    this.#sessions.set(socket, session);
    socket.on('close', () => this.#sessions.delete(socket));
    // The peer knows what went wrong, or is gone. Reading the stack saves memory: until then, the error keeps the
    // receivers of its calls alive and, for good, a session whose settings were never acknowledged (20 KB in nghttp2).
    session.on('error', (error) => void error.stack);
    this.#cutUnlessReady(socket, session);
    const { createChannel, mayAsk, onQuestion } = this.#options;
    const { decodeRequest, encodeResponse } = this.#codec;
    const channel = createChannel(socket, clientCertificate);
    serveUnary(session, {
      path: checkPath,
      maxMessageBytes,
      reads: () => mayAsk(channel),
      // An unreadable request is refused instead of failing: proxies may be set to let failures pass.
      onCall: (message, respond) =>
        onQuestion(message === null ? {} : decodeRequest(message), channel, (response) =>
          respond(encodeResponse(response)),
        ),
    });
  }

  /** Disconnects a peer that sends no HTTP/2 settings (RFC 9113 §3.4) within `handshakeTimeoutMs`. */
  #cutUnlessReady(socket: Socket, session: ServerHttp2Session): void {
    const timer = setTimeout(() => socket.destroy(), this.#options.handshakeTimeoutMs);
    session.once('remoteSettings', () => clearTimeout(timer));
    socket.on('close', () => clearTimeout(timer));
  }
}

function nameOf({ remoteAddress, remotePort }: Socket): string {
  return `${remoteAddress}:${remotePort}`;
}
