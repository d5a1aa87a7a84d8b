import { readFileSync, unwatchFile, watchFile } from 'node:fs';
import { createSecureContext } from 'node:tls';
import type { CertificatePair } from '../http1/server.ts';

/** The files of a certificate, looked at again and again: a renewal needs no restart. */
export interface CertificateFiles {
  /** What the files held when they last were a certificate and its key. */
  readonly current: CertificatePair;
  close(): void;
}

/** How often the files are looked at, in milliseconds; by time of change, so that a swapped symbolic link counts too. */
const pollIntervalMs = 1_000;

/**
 * Reads the files and watches them; throws when they can't be read or don't belong together. Later on `onChange` is
 * given a new pair once it is whole, also when it is the old one again; `onError` what is wrong with one that is not.
 */
export function watchCertificate(
  files: { readonly cert: string; readonly key: string },
  on: {
    readonly onChange: (certificate: CertificatePair) => void;
    readonly onError: (error: unknown) => void;
  },
): CertificateFiles {
  let current = readCertificate(files);
  let isUsable = true;
  const look = () => {
    try {
      const next = readCertificate(files);
      if (isUsable && next.cert.equals(current.cert) && next.key.equals(current.key)) return;
      isUsable = true;
      current = next;
      on.onChange(next);
    } catch (error) {
      // Half-written, or only one of the two is new yet: the old pair stays until they match.
      isUsable = false;
      on.onError(error);
    }
  };
  for (const file of Object.values(files))
    watchFile(file, { interval: pollIntervalMs, persistent: false }, look);
  return {
    get current() {
      return current;
    },
    close() {
      for (const file of Object.values(files)) unwatchFile(file, look);
    },
  };
}

function readCertificate(files: { readonly cert: string; readonly key: string }): CertificatePair {
  const certificate = { cert: readFileSync(files.cert), key: readFileSync(files.key) };
  createSecureContext(certificate);
  return certificate;
}
