import type { TLSSocket } from 'node:tls';

/** Reasons for which a TLS handshake fails; the values of a metric label. */
export const handshakeFailures = [
  'not_tls',
  'version',
  'cipher',
  'alpn',
  'certificate_refused',
  'client_certificate_missing',
  'client_certificate_invalid',
  'timeout',
  'closed',
  'other',
] as const;

export type HandshakeFailureReason = (typeof handshakeFailures)[number];

/** A failed TLS handshake. */
export interface HandshakeFailure {
  readonly reason: HandshakeFailureReason;
  /** Error code from Node's TLS, OpenSSL or the system. */
  readonly code: string;
  /** Canonical address of the client; empty if the connection was already gone. */
  readonly address: string;
}

const reasons: Readonly<Record<string, HandshakeFailureReason>> = {
  ERR_SSL_HTTP_REQUEST: 'not_tls',
  ERR_SSL_HTTPS_PROXY_REQUEST: 'not_tls',
  ERR_SSL_WRONG_VERSION_NUMBER: 'not_tls',
  ERR_SSL_UNSUPPORTED_PROTOCOL: 'version',
  ERR_SSL_VERSION_TOO_LOW: 'version',
  ERR_SSL_INAPPROPRIATE_FALLBACK: 'version',
  ERR_SSL_TLSV1_ALERT_PROTOCOL_VERSION: 'version',
  ERR_SSL_NO_SHARED_CIPHER: 'cipher',
  ERR_SSL_NO_SHARED_GROUP: 'cipher',
  ERR_SSL_NO_SUITABLE_KEY_SHARE: 'cipher',
  ERR_SSL_NO_SUITABLE_GROUPS: 'cipher',
  ERR_SSL_NO_SUITABLE_SIGNATURE_ALGORITHM: 'cipher',
  ERR_SSL_NO_SHARED_SIGNATURE_ALGORITHMS: 'cipher',
  ERR_SSL_NO_APPLICATION_PROTOCOL: 'alpn',
  ERR_SSL_PEER_DID_NOT_RETURN_A_CERTIFICATE: 'client_certificate_missing',
  ERR_TLS_HANDSHAKE_TIMEOUT: 'timeout',
  ECONNRESET: 'closed',
  EPIPE: 'closed',
};

/** Matches alerts from a client that rejects our certificate (RFC 8446 §6.2); their names vary between OpenSSL versions. */
const certificateAlert = /ALERT_(?:.*CERTIFICATE|UNKNOWN_CA)/;

/** Classifies an error in a TLS handshake of a server. */
export function handshakeFailureReason(
  { code = '' }: NodeJS.ErrnoException,
  { authorizationError }: Pick<TLSSocket, 'authorizationError'>,
): HandshakeFailureReason {
  if (authorizationError) return 'client_certificate_invalid';
  return reasons[code] ?? (certificateAlert.test(code) ? 'certificate_refused' : 'other');
}
