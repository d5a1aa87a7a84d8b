/** What keys are for; no key of one purpose counts for another. `cookie`: the secret of refresh and web cookies. */
export type KeyPurpose = 'access-token' | 'assertion' | 'cookie';

/** `HS256` is that of cookies alone. */
export type KeyAlgorithm = 'ES256' | 'EdDSA' | 'RS256' | 'HS256';

/** The keys that replace one another. */
export interface KeySeries {
  readonly purpose: KeyPurpose;
  readonly algorithm: KeyAlgorithm;
}

/** A key that was generated, and is in no store yet. */
export interface NewSigningKey extends KeySeries {
  readonly kid: string;
  /** A JWK as text (RFC 7517), private part included. */
  readonly privateJwk: string;
}

/**
 * A key of the records store. It is published from the beginning, signs later, and stays, retired, until whatever it
 * signed has expired. Instants are epoch ms by the store's clock.
 */
export interface SigningKey extends NewSigningKey {
  readonly created: number;
  /** Since when it signs; null: it is to be the next. */
  readonly signsFrom: number | null;
  /** Since when another one signs in its place. */
  readonly retired: number | null;
  /** Since when someone has wanted the next one to sign, ahead of the schedule. */
  readonly requested: number | null;
  /** How long what it signs may be valid at most, ms. */
  readonly lifetimeMs: number;
}

/** All keys, newest first, and when they were read. */
export interface StoredKeys {
  readonly keys: readonly SigningKey[];
  /** Epoch ms by the store's clock. */
  readonly time: number;
}

/** Whether a key belongs to a series. */
export function isOfSeries(key: KeySeries, { purpose, algorithm }: KeySeries): boolean {
  return key.purpose === purpose && key.algorithm === algorithm;
}
