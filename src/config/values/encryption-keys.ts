import { readFileSync } from 'node:fs';
import { z } from 'zod';
import { filePath, matching } from './scalars.ts';

const keyBytes = 32;

/** `stores.records_encryption`: the keys that encrypt private keys and secrets. */
export const recordsEncryption = z
  .strictObject({
    keys: z
      .array(
        z.strictObject({
          id: matching(/^[A-Za-z0-9._-]{1,63}$/, 'must be 1 to 63 of A-Z, a-z, 0-9, . _ -').describe(
            'Name of the key, stored with each encrypted value; it must stay the same.',
          ),
          file: filePath().describe('File of the key: 32 random bytes.'),
        }),
      )
      .min(1, 'must have at least one key')
      .describe('The first key encrypts, all of them decrypt: add a key last, then move it first.'),
  })
  .describe('Encryption of private keys and secrets in the records (AES-256-GCM).');

/** Parses the content of a key file; returns the key, or the broken rule as text. A trailing newline is ignored. */
export function encryptionKeyOf(content: Uint8Array): Uint8Array | string {
  const isEnded = content.length === keyBytes + 1 && content.at(-1) === 0x0a;
  const key = isEnded ? content.subarray(0, keyBytes) : content;
  return key.length === keyBytes ? key : `must hold ${keyBytes} bytes; it has ${content.length}`;
}

/** Reads the keys, from the disk unless `read` says otherwise. Throws if a file can't be read or is no longer valid. */
export function loadEncryptionKeys(
  encryption: z.output<typeof recordsEncryption> | undefined,
  read: (path: string) => Uint8Array = (path) => readFileSync(path),
): { readonly id: string; readonly key: Uint8Array }[] {
  return (encryption?.keys ?? []).map(({ id, file }) => {
    const key = encryptionKeyOf(read(file));
    // The file was valid when the configuration was read, and has changed since.
    if (typeof key === 'string') throw new Error(`stores.records_encryption: ${file} ${key}`);
    return { id, key };
  });
}
