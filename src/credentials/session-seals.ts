import { createCipheriv, createDecipheriv, randomBytes } from 'node:crypto';
import type { KeptClaim } from '../rules/kept-claims.ts';
import { createMac } from './mac.ts';

/** The secret, of at least 32 bytes, and the tenant: processes with the same ones open what any of them has sealed. */
export interface SealSecret {
  readonly secret: Uint8Array;
  readonly tenant: string;
}

/** Encrypts ID tokens that sessions keep, each for its session alone. */
export interface IdTokenSeals {
  /** The token as a session keeps it; null for one that is too long to be kept. */
  seal(sessionId: string, idToken: string): string | null;
  /** Opens a token sealed for that session; undefined for anything else. */
  open(sessionId: string, sealed: string): string | undefined;
}

/** Encrypts claims that sessions keep, each session's for it alone. */
export interface ClaimSeals {
  /** The claims as a session keeps them; null: there are none. */
  seal(sessionId: string, claims: readonly KeptClaim[]): string | null;
  /** Opens claims sealed for that session; undefined for anything else. */
  open(sessionId: string, sealed: string): readonly KeptClaim[] | undefined;
}

/** Size of the longest ID token that a session keeps, bytes. */
export const maxIdTokenBytes = 8 * 1024;

const cipher = 'aes-256-gcm';
const nonceBytes = 12;
const tagBytes = 16;

/** Creates the seals of ID tokens of one tenant. */
export function createIdTokenSeals(secret: SealSecret): IdTokenSeals {
  const { seal, open } = createSeals(secret, 'postern kept ID token 1');
  return {
    seal: (sessionId, idToken) =>
      Buffer.byteLength(idToken) > maxIdTokenBytes ? null : seal(sessionId, idToken),
    open,
  };
}

/** Creates the seals of claims of one tenant. */
export function createClaimSeals(secret: SealSecret): ClaimSeals {
  const { seal, open } = createSeals(secret, 'postern kept claims 1');
  return {
    seal: (sessionId, claims) => (claims.length === 0 ? null : seal(sessionId, JSON.stringify(claims))),
    open(sessionId, sealed) {
      const text = open(sessionId, sealed);
      return text === undefined ? undefined : JSON.parse(text);
    },
  };
}

/** Creates the seals (AES-256-GCM) for one purpose. */
function createSeals({ secret, tenant }: SealSecret, purpose: string) {
  const mac = createMac(secret, purpose);
  const keyOf = (sessionId: string) => mac([tenant, sessionId]);

  return {
    seal(sessionId: string, text: string): string {
      const nonce = randomBytes(nonceBytes);
      const sealing = createCipheriv(cipher, keyOf(sessionId), nonce);
      const sealed = [nonce, sealing.update(text), sealing.final(), sealing.getAuthTag()];
      return Buffer.concat(sealed).toString('base64url');
    },

    open(sessionId: string, sealed: string): string | undefined {
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
