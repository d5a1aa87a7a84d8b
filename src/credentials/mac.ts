import { createHmac, createSecretKey } from 'node:crypto';

const minSecretBytes = 32;

/** Authenticates a list of texts: equal bytes for equal lists only. */
export type Mac = (fields: readonly string[]) => Buffer;

/**
 * Creates HMAC-SHA256 (RFC 2104) for one purpose. Every field is prefixed with its length, so that no two lists concatenate to
 * the same bytes, and the purpose comes first, so that a MAC made for one use is invalid for another under the same secret.
 * Throws a RangeError for a secret under 32 bytes.
 */
export function createMac(secret: Uint8Array, purpose: string): Mac {
  if (secret.byteLength < minSecretBytes) throw new RangeError('a MAC secret must have at least 32 bytes');
  const key = createSecretKey(secret);
  return (fields) => {
    const hmac = createHmac('sha256', key);
    for (const field of [purpose, ...fields]) {
      hmac.update(`${Buffer.byteLength(field)}:`).update(field);
    }
    return hmac.digest();
  };
}
