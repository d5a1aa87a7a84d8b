import type { AuditOf } from './audit.ts';
import type { Awaitable } from './awaitable.ts';
import type { KeyTimes, KeyTurn } from './key-schedule.ts';
import type { KeySeries, NewSigningKey, StoredKeys } from './signing-key.ts';

/** What is wanted of a series of keys. */
export interface KeyTurnRequest {
  readonly series: KeySeries;
  readonly times: KeyTimes;
  /** The key to add if the series needs one. */
  readonly candidate: NewSigningKey | null;
  /** Whether the next key shall sign as soon as it has been published for long enough. */
  readonly isRequested?: boolean;
  /** A key of the series to remove, whatever it has signed. */
  readonly revoke?: string;
}

/** What was done, and the keys of every series afterwards. */
export interface KeyChange extends StoredKeys {
  /** What was due. */
  readonly turn: KeyTurn;
  /** The kid of the candidate, if it was needed. */
  readonly added: string | null;
  /** The kid of the key that was removed. */
  readonly revoked: string | null;
  /** The kid of the key that shall no longer sign, if there was one. */
  readonly requested: string | null;
}

/** The part of the records store for keys that sign, and are replaced. */
export interface SigningKeyRecords {
  signingKeys(): Awaitable<StoredKeys>;
  /**
   * Does what {@link ./key-schedule.ts decideTurn} says of a series, by the store's clock: of several processes the first
   * does it, the others find it done. Every process notices within a second, by `version`.
   */
  turnSigningKeys(wanted: KeyTurnRequest, audit?: AuditOf<KeyChange>): Promise<KeyChange>;
}
