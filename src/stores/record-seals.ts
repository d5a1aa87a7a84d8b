import { createCipheriv, createDecipheriv, randomBytes } from 'node:crypto';

/** A key with which private keys and secrets are encrypted. */
export interface EncryptionKey {
  /** Stored with every value that the key encrypts. */
  readonly id: string;
  /** 32 bytes. */
  readonly key: Uint8Array;
}

/** Use of an encrypted value: it is authenticated together with the value, so that no value can take another's place. */
export interface SealedUse {
  readonly purpose: string;
  readonly id: string;
}

/** Encrypts and decrypts the stored private keys and secrets of one tenant (AES-256-GCM). */
export interface RecordSeals {
  /** Returns the value as it is stored: encrypted, or unchanged when there is no key. */
  seal(use: SealedUse, value: string): string;
  /** Returns the original of a stored value, decrypted if need be. Throws {@link SealError} when that is impossible. */
  open(use: SealedUse, stored: string): string;
  /** True if a stored value is as `seal` would store it now. */
  isCurrent(stored: string): boolean;
}

/** Error for a stored value that can't be decrypted; the message continues a sentence about the store, without the value. */
export class SealError extends Error {
  constructor({ purpose, id }: SealedUse, reason: string) {
    super(`holds a ${purpose} (${id}) that ${reason}`);
    this.name = 'SealError';
  }
}

const cipher = 'aes-256-gcm';
const nonceBytes = 12;
const tagBytes = 16;
/** Prefix of encrypted values alone: JWKs are JSON, and secrets and tokens base64url. */
const mark = 'sealed:';
const sealed = /^sealed:([A-Za-z0-9._-]+):([A-Za-z0-9_-]+)$/;

/** True if a stored value is encrypted. */
export function isSealed(stored: string): boolean {
  return stored.startsWith(mark);
}

/** Creates the seals: the first key encrypts, and all of them decrypt; without keys nothing is encrypted. */
export function createRecordSeals(tenant: string, keys: readonly EncryptionKey[]): RecordSeals {
  const [first] = keys;
  const byId = new Map(keys.map(({ id, key }) => [id, key]));

  const boundTo = (keyId: string, { purpose, id }: SealedUse) =>
    Buffer.from(JSON.stringify(['postern record 1', tenant, purpose, id, keyId]));

  return {
    seal(use, value) {
      if (first === undefined) return value;
      const nonce = randomBytes(nonceBytes);
      const sealing = createCipheriv(cipher, first.key, nonce).setAAD(boundTo(first.id, use));
      const bytes = [nonce, sealing.update(value), sealing.final(), sealing.getAuthTag()];
      return `${mark}${first.id}:${Buffer.concat(bytes).toString('base64url')}`;
    },

    open(use, stored) {
      if (!isSealed(stored)) return stored;
      const [, keyId, text] = sealed.exec(stored) ?? [];
      if (keyId === undefined || text === undefined) throw new SealError(use, 'is damaged');
      const key = byId.get(keyId);
      if (key === undefined)
        throw new SealError(
          use,
          `is encrypted with the key "${keyId}", which stores.records_encryption doesn't have`,
        );
      const bytes = Buffer.from(text, 'base64url');
      try {
        const opening = createDecipheriv(cipher, key, bytes.subarray(0, nonceBytes), {
          authTagLength: tagBytes,
        });
        opening.setAAD(boundTo(keyId, use)).setAuthTag(bytes.subarray(-tagBytes));
        const parts = [opening.update(bytes.subarray(nonceBytes, -tagBytes)), opening.final()];
        return Buffer.concat(parts).toString();
      } catch {
        throw new SealError(
          use,
          `can't be decrypted with the key "${keyId}" of stores.records_encryption: another key had that id, or the value was changed`,
        );
      }
    },

    isCurrent: (stored) =>
      first === undefined ? !isSealed(stored) : stored.startsWith(`${mark}${first.id}:`),
  };
}
