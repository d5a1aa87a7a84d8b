import { randomBytes } from 'node:crypto';
import { calculateJwkThumbprint, exportJWK, generateKeyPair } from 'jose';
import { uuidv7 } from 'uuidv7';
import { Refusal } from '../errors.ts';
import type { AuditOf } from '../stores/audit.ts';
import { decideTurn, isDue, type KeyTimes } from '../stores/key-schedule.ts';
import { SealError } from '../stores/record-seals.ts';
import type { Records } from '../stores/records.ts';
import { timedOut } from '../stores/remote/breaker.ts';
import { within } from '../stores/remote/timeout.ts';
import {
  isOfSeries,
  type KeyChange,
  type KeySeries,
  type NewSigningKey,
  type SigningKey,
  type StoredKeys,
} from '../stores/signing-keys.ts';

const secretBytes = 32;
/** Time after which the keys are read again without a known change, ms: the clocks are compared at least this often. */
const readAgeMs = 60_000;
/** Maximum time that reading a change may delay a signature, ms. */
const catchUpMs = 250;
/** Minimum time between two searches for an unknown key, ms: a flood of made-up ones costs the store one query in that time. */
const searchPauseMs = 1_000;

/** Dependencies of {@link KnownKeys}. */
export interface KnownKeysOptions {
  readonly records: Pick<Records, 'signingKeys' | 'turnSigningKeys' | 'version'>;
  /** The clock, epoch ms. */
  readonly now: () => number;
  /** A monotonic clock, ms; default `performance.now()`. */
  readonly elapsed?: (() => number) | undefined;
}

/**
 * The keys of the records store as this process knows them; they stay in use while the store is unavailable. Another process may
 * add, replace or remove one at any time.
 */
export class KnownKeys {
  readonly #options: KnownKeysOptions;
  readonly #elapsed: () => number;
  #stored: StoredKeys = { keys: [], time: 0 };
  /** Lead of the store's clock over ours, ms. */
  #aheadMs = 0;
  #seenVersion: number | null = null;
  #reading: Promise<void> | undefined;
  #readAt = Number.NEGATIVE_INFINITY;
  #searchedAt = Number.NEGATIVE_INFINITY;
  #lastSearch: Promise<void> = Promise.resolve();

  constructor(options: KnownKeysOptions) {
    this.#options = options;
    this.#elapsed = options.elapsed ?? (() => performance.now());
  }

  /** The keys, newest first; a new array whenever they have changed. */
  get keys(): readonly SigningKey[] {
    return this.#stored.keys;
  }

  /** The store's time as far as it is known, epoch ms. */
  time(): number {
    return this.#options.now() + this.#aheadMs;
  }

  /** Reads every change of which this process was notified; if the store doesn't respond soon, the known keys stay in use. */
  async catchUp(): Promise<void> {
    try {
      if (this.#isCurrent()) return;
    } catch {
      return;
    }
    await within(catchUpMs, this.refresh(), timedOut).catch(() => {});
  }

  /** Reads the keys if the records have changed since the last reading, or it was long ago. Rejects with `store_unavailable`. */
  async refresh(): Promise<void> {
    // One query at a time, however many ask: the store may not respond.
    await this.#reading?.catch(() => {});
    if (this.#isCurrent()) return;
    this.#reading ??= this.#readAll().finally(() => {
      this.#reading = undefined;
    });
    await this.#reading;
  }

  /** Reads the keys to find one that isn't known, unless that was just done. Rejects with `store_unavailable`. */
  search(): Promise<void> {
    if (this.#elapsed() - this.#searchedAt < searchPauseMs)
      return this.#lastSearch.then(() => this.refresh());
    this.#searchedAt = this.#elapsed();
    this.#lastSearch = this.#read();
    return this.#lastSearch;
  }

  /** True if a key of the series must be added, replaced or removed now, as far as this process knows. */
  isDue(series: KeySeries, times: KeyTimes): boolean {
    const keys = this.keys.filter((key) => isOfSeries(key, series));
    return isDue(decideTurn(keys, times, this.time()));
  }

  /** Makes the changes that are due in a series, which then has a signing key. Rejects with `store_unavailable`. */
  async turn(series: KeySeries, times: KeyTimes, audit?: AuditOf<KeyChange>): Promise<KeyChange> {
    // A key pair is made only for a store that needs one: generating RSA takes long.
    let candidate: NewSigningKey | null = null;
    for (;;) {
      const change = await this.#options.records.turnSigningKeys({ series, times, candidate }, audit);
      this.#note(change);
      if (change.turn.needs === null || candidate !== null) return change;
      candidate = await generateSigningKey(series);
    }
  }

  /** True if the last reading is recent and no change since then is known. Throws `store_unavailable`. */
  #isCurrent(): boolean {
    const isRecent = this.#elapsed() - this.#readAt < readAgeMs;
    return this.#options.records.version() === this.#seenVersion && isRecent;
  }

  async #readAll(): Promise<void> {
    const version = this.#options.records.version();
    await this.#read();
    this.#seenVersion = version;
  }

  async #read(): Promise<void> {
    try {
      this.#note(await this.#options.records.signingKeys());
    } catch (error) {
      // While another gateway encrypts with a key that this one doesn't have, the keys known here stay in use.
      throw error instanceof SealError ? new Refusal('store_unavailable', { cause: error }) : error;
    }
  }

  #note(stored: StoredKeys): void {
    this.#readAt = this.#elapsed();
    this.#aheadMs = stored.time - this.#options.now();
    // Code that derives something from the keys compares the array to notice changes.
    if (JSON.stringify(stored.keys) !== JSON.stringify(this.#stored.keys)) this.#stored = stored;
  }
}

/**
 * Generates a key of a series. The kid of a key pair is the RFC 7638 thumbprint; that of a secret, which is never published, is
 * unrelated to it.
 */
export async function generateSigningKey({ purpose, algorithm }: KeySeries): Promise<NewSigningKey> {
  if (algorithm === 'HS256') {
    const k = randomBytes(secretBytes).toString('base64url');
    return { purpose, algorithm, kid: uuidv7(), privateJwk: JSON.stringify({ kty: 'oct', k }) };
  }
  const { privateKey } = await generateKeyPair(algorithm, { extractable: true });
  const jwk = await exportJWK(privateKey);
  return { purpose, algorithm, kid: await calculateJwkThumbprint(jwk), privateJwk: JSON.stringify(jwk) };
}
