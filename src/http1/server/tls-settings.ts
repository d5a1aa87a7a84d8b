import { constants } from 'node:crypto';
import { createSecureContext, type SecureContextOptions } from 'node:tls';

/** A certificate and its key as PEM. */
export interface CertificatePair {
  readonly cert: Buffer;
  readonly key: Buffer;
}

/** Authorities of client certificates. */
export interface ClientAuthorities {
  /** PEM texts of the authorities, up to their roots. */
  readonly ca: Buffer;
  readonly isRequired: boolean;
}

/** TLS settings of a listener. */
export interface ListenerTls extends CertificatePair {
  /** Null: clients are not asked for a certificate. */
  readonly clients: ClientAuthorities | null;
}

/**
 * Forward secrecy and authenticated encryption alone. Suites of TLS 1.2 that use CBC have had padding oracles again and
 * again (Lucky 13, POODLE), and RSA key exchange gives recorded traffic away with the key. Level 2 (112 bits) refuses RSA
 * keys below 2,048 bits and SHA-1 in signatures.
 */
const ciphers = [
  'TLS_AES_128_GCM_SHA256',
  'TLS_AES_256_GCM_SHA384',
  'TLS_CHACHA20_POLY1305_SHA256',
  'ECDHE-ECDSA-AES128-GCM-SHA256',
  'ECDHE-RSA-AES128-GCM-SHA256',
  'ECDHE-ECDSA-AES256-GCM-SHA384',
  'ECDHE-RSA-AES256-GCM-SHA384',
  'ECDHE-ECDSA-CHACHA20-POLY1305',
  'ECDHE-RSA-CHACHA20-POLY1305',
  '@SECLEVEL=2',
].join(':');

/**
 * Elliptic curves alone, by preference, the first one together with ML-KEM where this OpenSSL knows it (3.5). The finite
 * fields that OpenSSL allows by default would let a client's one message cost milliseconds (CVE-2002-20001).
 */
const curves = 'X25519:prime256v1:secp384r1:secp521r1';
let groups: string | undefined;

function knownGroups(): string {
  groups ??= isKnown(`X25519MLKEM768:${curves}`) ? `X25519MLKEM768:${curves}` : curves;
  return groups;
}

/** Makes a context to find out, which takes 20 ms the first time. */
function isKnown(ecdhCurve: string): boolean {
  try {
    createSecureContext({ ecdhCurve });
    return true;
  } catch {
    return false;
  }
}

const { SSL_OP_NO_RENEGOTIATION, SSL_OP_NO_TICKET } = constants;

/** Options of a listener's TLS context, stated in full to be independent of Node's defaults and options. */
export function contextOptions({ cert, key, clients }: ListenerTls): SecureContextOptions {
  const settings = {
    cert,
    key,
    minVersion: 'TLSv1.2',
    maxVersion: 'TLSv1.3',
    ciphers,
    ecdhCurve: knownGroups(),
    // All suites are good: the client knows which is fast on its processor.
    honorCipherOrder: false,
  } as const;
  // Renegotiation makes a client's few bytes cost a handshake each, and has let others' bytes slip in (CVE-2009-3555).
  if (clients === null) return { ...settings, secureOptions: SSL_OP_NO_RENEGOTIATION };
  // A resumed session would not show its certificate again, and could be resumed after the certificate has expired or its
  // authority is gone.
  const secureOptions = SSL_OP_NO_RENEGOTIATION | SSL_OP_NO_TICKET;
  return { ...settings, secureOptions, ca: clients.ca };
}

/** Node's options for requesting client certificates. */
export function clientCertificateOptions({ clients }: ListenerTls) {
  return { requestCert: clients !== null, rejectUnauthorized: clients?.isRequired === true };
}

/** True if clients admitted under `before` might be refused under `now`. */
export function admitsOthers(before: ListenerTls | null, now: ListenerTls): boolean {
  if (now.clients === null) return false;
  const { ca, isRequired } = now.clients;
  return before?.clients?.isRequired !== isRequired || !before.clients.ca.equals(ca);
}
