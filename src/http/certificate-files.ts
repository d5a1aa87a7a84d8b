import { readFileSync, unwatchFile, watchFile } from 'node:fs';
import { createSecureContext } from 'node:tls';
import type { CertificatePair } from '../http1/server.ts';

/** A certificate and its key, reloaded when their files change: a renewal needs no restart. */
export interface CertificateFiles {
  /** The last valid pair that the files held. */
  readonly current: CertificatePair;
  close(): void;
}

/** How often the files are checked for changes, in milliseconds. Polling also notices a swapped symbolic link. */
const pollIntervalMs = 1_000;

/**
 * Reads the files and watches them; throws if they can't be read or don't belong together. From then on `onChange`
 * receives each new valid pair, also when the old one is restored after an invalid one, and `onError` the reason why a
 * pair is invalid.
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
  const reload = () => {
    try {
      const next = readCertificate(files);
      if (isUsable && next.cert.equals(current.cert) && next.key.equals(current.key)) return;
      isUsable = true;
      current = next;
      on.onChange(next);
    } catch (error) {
      // Half-written, or only one file has been replaced yet: the old pair stays in use until they match.
      isUsable = false;
      on.onError(error);
    }
  };
  for (const file of Object.values(files))
    watchFile(file, { interval: pollIntervalMs, persistent: false }, reload);
  return {
    get current() {
      return current;
    },
    close() {
      for (const file of Object.values(files)) unwatchFile(file, reload);
    },
  };
}

function readCertificate(files: { readonly cert: string; readonly key: string }): CertificatePair {
  const certificate = { cert: readFileSync(files.cert), key: readFileSync(files.key) };
  createSecureContext(certificate);
  return certificate;
}
