import { constants } from 'node:crypto';
import { createSecureContext, type SecureContextOptions } from 'node:tls';

/** A certificate and its private key, in PEM. */
export interface CertificatePair {
  readonly cert: Buffer;
  readonly key: Buffer;
}

/** Authorities that client certificates must be issued by. */
export interface ClientAuthorities {
  /** Certificates of the authorities, up to their roots, in PEM. */
  readonly ca: Buffer;
  readonly isRequired: boolean;
}

/** TLS settings of a listener. */
export interface ListenerTls extends CertificatePair {
  /** Null if clients are not asked for a certificate. */
  readonly clients: ClientAuthorities | null;
}

/**
 * Cipher suites, all with forward secrecy and authenticated encryption. CBC suites of TLS 1.2 have repeatedly had padding oracles
 * (Lucky 13, POODLE), and with RSA key exchange, whoever obtains the key can decrypt recorded traffic. Security level 2
 * (112 bits) refuses RSA keys below 2,048 bits and SHA-1 in signatures.
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
 * Elliptic curves for key exchange, by preference; {@link knownGroups} puts ML-KEM first if available. The finite-field groups
 * that OpenSSL allows by default are left out: one message of a client could cost milliseconds of computation (CVE-2002-20001).
 */
const curves = 'X25519:prime256v1:secp384r1:secp521r1';
let groups: string | undefined;

function knownGroups(): string {
  groups ??= isKnown(`X25519MLKEM768:${curves}`) ? `X25519MLKEM768:${curves}` : curves;
  return groups;
}

/** True if this OpenSSL knows the groups (ML-KEM since 3.5). Creates a context to find out, which takes 20 ms the first time. */
function isKnown(ecdhCurve: string): boolean {
  try {
    createSecureContext({ ecdhCurve });
    return true;
  } catch {
    return false;
  }
}

const { SSL_OP_NO_RENEGOTIATION, SSL_OP_NO_TICKET } = constants;

/** Options of a listener's TLS context, stated in full so that Node's defaults and command-line options don't matter. */
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
  // Renegotiation lets a client cause handshakes with a few bytes each, and has let attackers inject data (CVE-2009-3555).
  if (clients === null) return { ...settings, secureOptions: SSL_OP_NO_RENEGOTIATION };
  // A client that resumes a session doesn't present its certificate again, and could resume after the certificate has expired
  // or its authority has been removed.
  const secureOptions = SSL_OP_NO_RENEGOTIATION | SSL_OP_NO_TICKET;
  return { ...settings, secureOptions, ca: clients.ca };
}

/** Node's options for requesting client certificates. */
export function clientCertificateOptions({ clients }: ListenerTls) {
  return { requestCert: clients !== null, rejectUnauthorized: clients?.isRequired === true };
}

/** True if clients admitted under `before` might be refused under `now`, and also if a certificate is no longer required. */
export function admitsOthers(before: ListenerTls | null, now: ListenerTls): boolean {
  if (now.clients === null) return false;
  const { ca, isRequired } = now.clients;
  return before?.clients?.isRequired !== isRequired || !before.clients.ca.equals(ca);
}
