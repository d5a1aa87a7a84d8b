import { createCipheriv, createDecipheriv, randomBytes } from 'node:crypto';
import { createMac } from './mac.ts';

/** Encrypts ID tokens that sessions keep, each for its session alone. */
export interface IdTokenSeals {
  /** The token as a session keeps it; null for one that is too long to be kept. */
  seal(sessionId: string, idToken: string): string | null;
  /** Opens a token sealed for that session; undefined for anything else. */
  open(sessionId: string, sealed: string): string | undefined;
}

/** Size of the longest ID token that a session keeps, bytes. */
export const maxIdTokenBytes = 8 * 1024;

const cipher = 'aes-256-gcm';
const nonceBytes = 12;
const tagBytes = 16;

/** Creates the seals of one tenant (AES-256-GCM). Processes with the same `secret`, of at least 32 bytes, open each other's. */
export function createIdTokenSeals({
  secret,
  tenant,
}: {
  readonly secret: Uint8Array;
  readonly tenant: string;
}): IdTokenSeals {
  const mac = createMac(secret, 'postern kept ID token 1');
  const keyOf = (sessionId: string) => mac([tenant, sessionId]);

  return {
    seal(sessionId, idToken) {
      if (Buffer.byteLength(idToken) > maxIdTokenBytes) return null;
      const nonce = randomBytes(nonceBytes);
      const sealing = createCipheriv(cipher, keyOf(sessionId), nonce);
      const sealed = [nonce, sealing.update(idToken), sealing.final(), sealing.getAuthTag()];
      return Buffer.concat(sealed).toString('base64url');
    },

    open(sessionId, sealed) {
      const bytes = Buffer.from(sealed, 'base64url');
      if (bytes.length < nonceBytes + tagBytes) return undefined;
      const opening = createDecipheriv(cipher, keyOf(sessionId), bytes.subarray(0, nonceBytes), {
        authTagLength: tagBytes,
      });
      opening.setAuthTag(bytes.subarray(-tagBytes));
      try {
        const text = [opening.update(bytes.subarray(nonceBytes, -tagBytes)), opening.final()];
        return Buffer.concat(text).toString();
      } catch {
        return undefined;
      }
    },
  };
}
