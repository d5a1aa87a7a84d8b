import type { X509Certificate } from 'node:crypto';
import { readFileSync, unwatchFile, watchFile } from 'node:fs';
import { createSecureContext } from 'node:tls';
import { certificatesOf, haveRoot } from '../config/values/certificates.ts';
import { contextOptions, type ListenerTls } from '../http1/server/tls-settings.ts';

/** The files of a listener, and whether clients have to show a certificate where `client_ca` is given. */
export interface ListenerFiles {
  readonly cert: string;
  readonly key: string;
  readonly client_ca?: string | undefined;
  readonly client_certificate: 'request' | 'require';
}

/** The settings that the files make, and the certificates in them. */
export interface LoadedTls extends ListenerTls {
  /** The certificate and its chain. */
  readonly chain: readonly X509Certificate[];
  /** What the certificates of clients are verified by; empty if they are not asked for any. */
  readonly authorities: readonly X509Certificate[];
}

/** The TLS files of a listener, reloaded when they change: a renewal needs no restart. */
export interface CertificateFiles {
  /** What the files held last that was valid. */
  readonly current: LoadedTls;
  close(): void;
}

/** How often the files are checked for changes, in milliseconds. Polling also notices a swapped symbolic link. */
const pollIntervalMs = 1_000;

/**
 * Reads the files and watches them; throws if they can't be read, don't belong together, or hold no authority. From then on
 * `onChange` receives what they hold when that is valid and new, also when the old content is restored after an invalid
 * one, and `onError` the reason why it is invalid.
 */
export function watchCertificate(
  files: ListenerFiles,
  on: {
    readonly onChange: (tls: LoadedTls) => void;
    readonly onError: (error: unknown) => void;
  },
): CertificateFiles {
  let current = readFiles(files);
  let isUsable = true;
  const reload = () => {
    try {
      const next = readFiles(files);
      if (isUsable && isSame(next, current)) return;
      isUsable = true;
      current = next;
      on.onChange(next);
    } catch (error) {
      // Half-written, or only one file has been replaced yet: the old content stays in use until they match.
      isUsable = false;
      on.onError(error);
    }
  };
  const watched = [files.cert, files.key, files.client_ca].filter((file) => file !== undefined);
  for (const file of watched) watchFile(file, { interval: pollIntervalMs, persistent: false }, reload);
  return {
    get current() {
      return current;
    },
    close() {
      for (const file of watched) unwatchFile(file, reload);
    },
  };
}

function readFiles({ cert, key, client_ca: clientCa, client_certificate }: ListenerFiles): LoadedTls {
  const isRequired = client_certificate === 'require';
  const clients = clientCa === undefined ? null : { ca: readFileSync(clientCa), isRequired };
  const pair = { cert: readFileSync(cert), key: readFileSync(key) };
  // Node takes authorities by which no client could be verified, and a text without any.
  const authorities = clients === null ? [] : certificatesOf(clients.ca.toString('latin1'));
  if (clients !== null && !haveRoot(authorities)) throw new Error(`${clientCa}: no root in it, as PEM`);
  createSecureContext(contextOptions({ ...pair, clients }));
  return { ...pair, clients, chain: certificatesOf(pair.cert.toString('latin1')), authorities };
}

function isSame(one: ListenerTls, other: ListenerTls): boolean {
  const ca = one.clients?.ca ?? Buffer.alloc(0);
  return (
    one.cert.equals(other.cert) &&
    one.key.equals(other.key) &&
    ca.equals(other.clients?.ca ?? Buffer.alloc(0))
  );
}
