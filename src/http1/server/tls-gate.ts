import type { Server, TLSSocket } from 'node:tls';
import { type HandshakeFailure, handshakeFailureReason } from './handshake-failure.ts';
import { canonicalAddress } from './peer-address.ts';
import { clientCertificateOptions, contextOptions, type ListenerTls } from './tls-settings.ts';

/** Decides which TLS connections are admitted, by settings that may change while the server runs. */
export class TlsGate {
  readonly #server: Server;
  readonly #onFailed: (failure: HandshakeFailure) => void;
  #tls: ListenerTls;

  /** `server` must have been created with the {@link tlsServerOptions} for the same `tls`. */
  constructor(server: Server, tls: ListenerTls, onFailed: (failure: HandshakeFailure) => void) {
    this.#server = server;
    this.#tls = tls;
    this.#onFailed = onFailed;
    // Before any other listener: the address is unknown once the socket is destroyed.
    server.prependListener('tlsClientError', (error, socket) => this.#refuse(socket, error));
  }

  /** Returns true if a connection may send requests after its handshake; otherwise reports a failure and destroys it. */
  admits(socket: TLSSocket): boolean {
    const { clients } = this.#tls;
    if (clients === null) return true;
    const hasShownOne = socket.getPeerX509Certificate() !== undefined;
    if (hasShownOne ? socket.authorized : !clients.isRequired) return true;
    this.#fail(socket, {
      reason: hasShownOne ? 'client_certificate_invalid' : 'client_certificate_missing',
      code: String(socket.authorizationError),
    });
    return false;
  }

  renew(tls: ListenerTls): void {
    this.#server.setSecureContext(contextOptions(tls));
    // Node's server reads these options for each connection; if it did not, `admits` would still refuse clients.
    Object.assign(this.#server, clientCertificateOptions(tls));
    this.#tls = tls;
  }

  #refuse(socket: TLSSocket, error: NodeJS.ErrnoException): void {
    // Node destroys a socket with an invalid certificate itself, and then reports only that it was closed.
    const code = String(socket.authorizationError ?? error.code ?? '');
    this.#fail(socket, { reason: handshakeFailureReason(error, socket), code });
  }

  #fail(socket: TLSSocket, failure: Omit<HandshakeFailure, 'address'>): void {
    this.#onFailed({ ...failure, address: canonicalAddress(socket.remoteAddress ?? '') });
    socket.destroy();
  }
}

/** Options for creating the TLS server of a {@link TlsGate}; `handshakeTimeout` is in milliseconds. */
export function tlsServerOptions(tls: ListenerTls, handshakeTimeout: number) {
  return {
    ...contextOptions(tls),
    ...clientCertificateOptions(tls),
    ALPNProtocols: ['http/1.1'],
    handshakeTimeout,
  };
}
