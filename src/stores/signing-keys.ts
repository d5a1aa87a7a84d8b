import type { AuditOf } from './audit.ts';
import type { Awaitable } from './awaitable.ts';
import type { KeyTimes, KeyTurn, ScheduledKey } from './key-schedule.ts';

/** Purpose of a key, which is used for no other; `cookie`: the secret that protects refresh and web cookies. */
export type KeyPurpose = 'access-token' | 'assertion' | 'cookie';

/** Algorithm of a key; only cookies have `HS256`. */
export type KeyAlgorithm = 'ES256' | 'EdDSA' | 'RS256' | 'HS256';

/** Series of keys that replace one another: they share purpose and algorithm. */
export interface KeySeries {
  readonly purpose: KeyPurpose;
  readonly algorithm: KeyAlgorithm;
}

/** A generated key that is in no store yet. */
export interface NewSigningKey extends KeySeries {
  readonly kid: string;
  /** A JWK as text (RFC 7517), including the private part. */
  readonly privateJwk: string;
}

/**
 * A key of the records store. It is published as soon as it is added, signs then or later, and once retired stays until
 * everything it signed has expired.
 */
export interface SigningKey extends NewSigningKey, ScheduledKey {}

/** All keys, newest first, as read at `time`, epoch ms by the store's clock. */
export interface StoredKeys {
  readonly keys: readonly SigningKey[];
  readonly time: number;
}

/** A request to make the changes that are due in a series of keys. */
export interface KeyTurnRequest {
  readonly series: KeySeries;
  readonly times: KeyTimes;
  /** The key to add if the series needs one. */
  readonly candidate: NewSigningKey | null;
  /** True if the key that signs is to be replaced as soon as the next one has been published for long enough. */
  readonly isRequested?: boolean;
  /** The kid of a key of the series to remove, even if something it signed is still valid. */
  readonly revoke?: string;
}

/** Outcome of a request, and the keys of every series afterwards. */
export interface KeyChange extends StoredKeys {
  /** The changes that were due. */
  readonly turn: KeyTurn;
  /** The kid of the candidate; null: it was not needed. */
  readonly added: string | null;
  /** The kid of the key that was removed on request; null: none. */
  readonly revoked: string | null;
  /** The kid of the key that is to be replaced on request; null: none. */
  readonly requested: string | null;
}

/** The part of the records store for signing keys. */
export interface SigningKeyRecords {
  signingKeys(): Awaitable<StoredKeys>;
  /**
   * Makes the changes that {@link ./key-schedule.ts decideTurn} finds due in a series, by the store's clock: of several processes
   * the first makes them, and the others find nothing due. Every process notices a change within a second, by `version`.
   */
  turnSigningKeys(wanted: KeyTurnRequest, audit?: AuditOf<KeyChange>): Promise<KeyChange>;
}

/** True if a key belongs to a series. */
export function isOfSeries(key: KeySeries, { purpose, algorithm }: KeySeries): boolean {
  return key.purpose === purpose && key.algorithm === algorithm;
}
