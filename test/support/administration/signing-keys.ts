import { accessTokenUse } from '../../../src/credentials/access-token.ts';
import type { CookieSecrets } from '../../../src/credentials/cookie-secrets.ts';
import { createKeyRing, type KeyRing } from '../../../src/credentials/key-ring.ts';
import type { NewSigningKey, SigningKey } from '../../../src/stores/signing-key.ts';

/** A key that signs since `created`. */
export function signing(key: NewSigningKey, created = 1): SigningKey {
  return { ...key, created, signsFrom: created, retired: null, requested: null, lifetimeMs: 0 };
}

/** A ring of access tokens in which these keys sign, newest first, and that never gets another one. */
export function ringOf(...keys: readonly NewSigningKey[]): KeyRing {
  const stored = keys.map((key, index) => signing(key, keys.length - index));
  return createKeyRing({ keys: stored, search: async () => {}, fresh: async () => {} }, accessTokenUse);
}

/** The secret of cookies, and earlier ones. */
export function cookieSecrets(...secrets: readonly Uint8Array[]): CookieSecrets {
  return { current: () => secrets, fresh: async () => {}, search: async () => {} };
}
