import { createHmac, createSecretKey } from 'node:crypto';

const minSecretBytes = 32;

/** Authenticates a list of texts: the same bytes for the same list alone. */
export type Mac = (fields: readonly string[]) => Buffer;

/**
 * HMAC-SHA256 (RFC 2104) for one purpose. Every field goes in behind its length, so that no two lists run together to
 * the same bytes, and the purpose is the first, so that no MAC of one use passes in another under the same secret.
 * Throws a RangeError for a secret under 32 bytes.
 */
export function createMac(secret: Uint8Array, purpose: string): Mac {
  if (secret.byteLength < minSecretBytes) throw new RangeError('a MAC secret has at least 32 bytes');
  const key = createSecretKey(secret);
  return (fields) => {
    const hmac = createHmac('sha256', key);
    for (const field of [purpose, ...fields]) {
      hmac.update(`${Buffer.byteLength(field)}:`).update(field);
    }
    return hmac.digest();
  };
}
