import type { X509Certificate } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { createSecureContext } from 'node:tls';
import { certificatesOf, haveRoot } from '../config/values/certificates.ts';
import { contextOptions, type ListenerTls } from '../http1/server/tls-settings.ts';

/** The TLS files of a listener, and the demand for a client's certificate where `client_ca` is given. */
export interface ListenerFiles {
  readonly cert: string;
  readonly key: string;
  readonly client_ca?: string | undefined;
  readonly client_certificate: 'request' | 'require';
}

/** The settings in the files of a listener, with the certificates in them. */
export interface LoadedTls extends ListenerTls {
  /** The certificate and its chain. */
  readonly chain: readonly X509Certificate[];
  /** The authorities that verify clients' certificates; empty if clients are not asked for any. */
  readonly authorities: readonly X509Certificate[];
}

/** Reads the files; throws if they can't be read, don't belong together, or hold no authority. */
export function loadTls({ cert, key, client_ca: clientCa, client_certificate }: ListenerFiles): LoadedTls {
  const isRequired = client_certificate === 'require';
  const clients = clientCa === undefined ? null : { ca: readFileSync(clientCa), isRequired };
  const pair = { cert: readFileSync(cert), key: readFileSync(key) };
  // Node accepts authorities that can't verify any client, and a text without any authority.
  const authorities = clients === null ? [] : certificatesOf(clients.ca.toString('latin1'));
  if (clients !== null && !haveRoot(authorities)) throw new Error(`${clientCa}: no root in PEM format`);
  createSecureContext(contextOptions({ ...pair, clients }));
  return { ...pair, clients, chain: certificatesOf(pair.cert.toString('latin1')), authorities };
}

/** True if both have the same content. */
export function isSameTls(one: ListenerTls, other: ListenerTls): boolean {
  const ca = one.clients?.ca ?? Buffer.alloc(0);
  return (
    one.cert.equals(other.cert) &&
    one.key.equals(other.key) &&
    ca.equals(other.clients?.ca ?? Buffer.alloc(0))
  );
}
