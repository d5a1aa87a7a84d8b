import type { AuditOf } from './audit.ts';
import type { Awaitable } from './awaitable.ts';
import type { KeyTimes, KeyTurn, ScheduledKey } from './key-schedule.ts';

/** Purpose of a key, which counts for no other; `cookie`: the secret of refresh and web cookies. */
export type KeyPurpose = 'access-token' | 'assertion' | 'cookie';

/** Algorithm of a key; only cookies have `HS256`. */
export type KeyAlgorithm = 'ES256' | 'EdDSA' | 'RS256' | 'HS256';

/** Keys that replace one another. */
export interface KeySeries {
  readonly purpose: KeyPurpose;
  readonly algorithm: KeyAlgorithm;
}

/** A generated key that is in no store yet. */
export interface NewSigningKey extends KeySeries {
  readonly kid: string;
  /** A JWK as text (RFC 7517), private part included. */
  readonly privateJwk: string;
}

/**
 * A key of the records store. It is published from the beginning, signs later, and stays, retired, until whatever it
 * signed has expired.
 */
export interface SigningKey extends NewSigningKey, ScheduledKey {}

/** All keys, newest first, as read at `time`, epoch ms by the store's clock. */
export interface StoredKeys {
  readonly keys: readonly SigningKey[];
  readonly time: number;
}

/** A request to do what is due in a series of keys. */
export interface KeyTurnRequest {
  readonly series: KeySeries;
  readonly times: KeyTimes;
  /** The key to add if the series needs one. */
  readonly candidate: NewSigningKey | null;
  /** Set if the next key has to sign as soon as it has been published for long enough. */
  readonly isRequested?: boolean;
  /** A key of the series to remove, whatever it has signed. */
  readonly revoke?: string;
}

/** Outcome of a request, and the keys of every series afterwards. */
export interface KeyChange extends StoredKeys {
  /** The changes that were due. */
  readonly turn: KeyTurn;
  /** The kid of the candidate, if it was needed. */
  readonly added: string | null;
  /** The kid of the key that was removed. */
  readonly revoked: string | null;
  /** The kid of the key that has to stop signing, if there was one. */
  readonly requested: string | null;
}

/** The part of the records store for keys that sign, and are replaced. */
export interface SigningKeyRecords {
  signingKeys(): Awaitable<StoredKeys>;
  /**
   * Applies the decision of {@link ./key-schedule.ts decideTurn} to a series, by the store's clock: of several processes, the
   * first does, and the others find it done. Every process notices within a second, by `version`.
   */
  turnSigningKeys(wanted: KeyTurnRequest, audit?: AuditOf<KeyChange>): Promise<KeyChange>;
}

/** True if a key belongs to a series. */
export function isOfSeries(key: KeySeries, { purpose, algorithm }: KeySeries): boolean {
  return key.purpose === purpose && key.algorithm === algorithm;
}
