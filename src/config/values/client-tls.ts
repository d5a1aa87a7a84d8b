import { readFileSync } from 'node:fs';
import { z } from 'zod';
import { filePath } from './scalars.ts';

/** TLS settings for connections to a store or an upstream. `cert` and `key` require each other. */
export const clientTlsKeys = {
  ca: filePath().optional().describe('PEM file of the authorities to trust; if omitted, those Node trusts.'),
  cert: filePath().optional().describe('PEM file of the client certificate; requires key.'),
  key: filePath()
    .optional()
    .describe('PEM file of the private key of the client certificate; requires cert.'),
};

/** TLS settings for connections to a store. */
export function clientTls() {
  return z.strictObject(clientTlsKeys);
}

/** Paths of the PEM files for TLS connections to a store or an upstream. */
export interface ClientTlsPaths {
  readonly ca?: string;
  readonly cert?: string;
  readonly key?: string;
}

/** Reads the configured files, from the disk unless `read` says otherwise. Throws Node's error if one can't be read. */
export function loadClientTls(
  { ca, cert, key }: ClientTlsPaths = {},
  read: (path: string) => Buffer = (path) => readFileSync(path),
): {
  readonly [name in keyof ClientTlsPaths]: Buffer;
} {
  return {
    ...(ca === undefined ? {} : { ca: read(ca) }),
    ...(cert === undefined ? {} : { cert: read(cert) }),
    ...(key === undefined ? {} : { key: read(key) }),
  };
}

/** The paths of the configured files. */
export function clientTlsFiles(tls: ClientTlsPaths | undefined): string[] {
  return [tls?.ca, tls?.cert, tls?.key].filter((file) => file !== undefined);
}
