import { accessTokenUse } from '../../../src/credentials/access-token.ts';
import { KeyRing } from '../../../src/credentials/key-ring.ts';
import type { CookieSecrets } from '../../../src/credentials/signed-cookie.ts';
import type { NewSigningKey, SigningKey } from '../../../src/stores/signing-keys.ts';

/** A key that signs since `created`. */
export function signing(key: NewSigningKey, created = 1): SigningKey {
  return { ...key, created, signsFrom: created, retired: null, requested: null, lifetimeMs: 0 };
}

/** A ring of access tokens in which these keys sign, newest first, and that never gets another one. */
export function ringOf(...keys: readonly NewSigningKey[]): KeyRing {
  const stored = keys.map((key, index) => signing(key, keys.length - index));
  return new KeyRing({ keys: stored, search: async () => {}, catchUp: async () => {} }, accessTokenUse);
}

/** The secret of cookies, and earlier ones. */
export function cookieSecrets(...secrets: readonly Uint8Array[]): CookieSecrets {
  const keys = secrets.map((secret, index) => {
    const k = Buffer.from(secret).toString('base64url');
    const key = { purpose: 'cookie', algorithm: 'HS256', kid: `secret ${index}` } as const;
    return signing({ ...key, privateJwk: JSON.stringify({ kty: 'oct', k }) }, secrets.length - index);
  });
  return { keys, catchUp: async () => {}, search: async () => {} };
}
