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

/** The files that TLS needs, as far as they are named. */
export function clientTlsFiles(
  tls: { readonly ca?: string; readonly cert?: string; readonly key?: string } | undefined,
): string[] {
  return [tls?.ca, tls?.cert, tls?.key].filter((file) => file !== undefined);
}
