import { readFileSync } from 'node:fs';
import { z } from 'zod';
import { filePath } from './scalars.ts';

/** Keys of TLS towards a store or an upstream: whom to trust and what to show. `cert` and `key` go together. */
export const clientTlsKeys = {
  ca: filePath().optional().describe('PEM file of the authorities to trust; if omitted, those Node trusts.'),
  cert: filePath().optional().describe('PEM file of the client certificate; requires key.'),
  key: filePath()
    .optional()
    .describe('PEM file of the private key of the client certificate; requires cert.'),
};

/** TLS towards a store. */
export function clientTls() {
  return z.strictObject(clientTlsKeys);
}

/** PEM files of TLS towards a store or an upstream, by their paths. */
export interface ClientTlsPaths {
  readonly ca?: string;
  readonly cert?: string;
  readonly key?: string;
}

/** What the files hold, as far as they are named; throws what Node does when one can't be read. */
export function loadClientTls({ ca, cert, key }: ClientTlsPaths = {}): {
  readonly [name in keyof ClientTlsPaths]: Buffer;
} {
  return {
    ...(ca === undefined ? {} : { ca: readFileSync(ca) }),
    ...(cert === undefined ? {} : { cert: readFileSync(cert) }),
    ...(key === undefined ? {} : { key: readFileSync(key) }),
  };
}

/** The files that TLS needs, as far as they are named. */
export function clientTlsFiles(tls: ClientTlsPaths | undefined): string[] {
  return [tls?.ca, tls?.cert, tls?.key].filter((file) => file !== undefined);
}
