import { Refusal } from '../errors.ts';
import type { AuditOf } from '../stores/audit.ts';
import { decideTurn, isDue, type KeyTimes } from '../stores/key-schedule.ts';
import { SealError } from '../stores/record-seals.ts';
import type { Records } from '../stores/records.ts';
import { timedOut } from '../stores/remote/breaker.ts';
import { within } from '../stores/remote/timeout.ts';
import { isOfSeries, type KeySeries, type SigningKey, type StoredKeys } from '../stores/signing-key.ts';
import type { KeyChange } from '../stores/signing-key-records.ts';
import { generateSigningKey } from './signing-keys.ts';

/** What the keys are read from, and by what clocks. */
export interface KnownKeysOptions {
  readonly records: Pick<Records, 'signingKeys' | 'turnSigningKeys' | 'version'>;
  /** The clock, epoch ms. */
  readonly now: () => number;
  /** A clock as `performance.now()`, which is the default. */
  readonly elapsed?: (() => number) | undefined;
}

/** How long the keys count as read without a change, ms: the clocks are compared at least this often. */
const readAgeMs = 60_000;
/** How long a change may hold up what is to be signed, ms. */
const freshMs = 250;
/** Minimum time between two searches for an unknown key, ms: a flood of made-up ones costs the store one query in that time. */
const searchPauseMs = 1_000;

/**
 * The keys of the records store as this process knows them, for as long as it lives: those it has are used while the store
 * is away. Another process may add, replace or remove one at any time.
 */
export class KnownKeys {
  readonly #options: KnownKeysOptions;
  readonly #elapsed: () => number;
  #stored: StoredKeys = { keys: [], time: 0 };
  /** How far the store's clock is ahead of ours, ms. */
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

  /** Newest first; another array whenever they have changed. */
  get keys(): readonly SigningKey[] {
    return this.#stored.keys;
  }

  /** The store's time, as far as it is known: epoch ms. */
  time(): number {
    return this.#options.now() + this.#aheadMs;
  }

  /**
   * Resolves once every change of which this process was notified is known; soon and with what is known, if the store
   * doesn't respond.
   */
  async fresh(): Promise<void> {
    try {
      if (this.#isCurrent()) return;
    } catch {
      return;
    }
    await within(freshMs, this.refresh(), timedOut).catch(() => {});
  }

  /** Reads the keys if the records have changed since they were read, or that is long ago. Rejects `store_unavailable`. */
  async refresh(): Promise<void> {
    // One query at a time, however many ask: the store may not respond.
    await this.#reading?.catch(() => {});
    if (this.#isCurrent()) return;
    this.#reading ??= this.#readAll().finally(() => {
      this.#reading = undefined;
    });
    await this.#reading;
  }

  /**
   * Reads the keys because one is not known; shortly after the last search it gives the result of that. Rejects
   * `store_unavailable`.
   */
  search(): Promise<void> {
    if (this.#elapsed() - this.#searchedAt < searchPauseMs)
      return this.#lastSearch.then(() => this.refresh());
    this.#searchedAt = this.#elapsed();
    this.#lastSearch = this.#read();
    return this.#lastSearch;
  }

  /** Whether something is due in a series, as far as this process knows. */
  isDue(series: KeySeries, times: KeyTimes): boolean {
    return isDue(decideTurn(this.#of(series), times, this.time()));
  }

  /** Does what is due in a series: afterwards it has a key that signs. Rejects `store_unavailable`. */
  async turn(series: KeySeries, times: KeyTimes, audit?: AuditOf<KeyChange>): Promise<KeyChange> {
    const { records } = this.#options;
    const { needs } = decideTurn(this.#of(series), times, this.time());
    let candidate = needs === null ? null : await generateSigningKey(series);
    let change = await records.turnSigningKeys({ series, times, candidate }, audit);
    if (change.turn.needs !== null && candidate === null) {
      candidate = await generateSigningKey(series);
      change = await records.turnSigningKeys({ series, times, candidate }, audit);
    }
    this.#note(change);
    return change;
  }

  /** Whether nothing is known to have changed since the keys were read, not long ago. Throws `store_unavailable`. */
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
      // As long as another gateway encrypts with a key that this one doesn't have, the keys it knows go on.
      throw error instanceof SealError ? new Refusal('store_unavailable', { cause: error }) : error;
    }
  }

  #note(stored: StoredKeys): void {
    this.#readAt = this.#elapsed();
    this.#aheadMs = stored.time - this.#options.now();
    // The same array as long as they are the same: what is made from them is kept.
    if (JSON.stringify(stored.keys) !== JSON.stringify(this.#stored.keys)) this.#stored = stored;
  }

  #of(series: KeySeries): readonly SigningKey[] {
    return this.keys.filter((key) => isOfSeries(key, series));
  }
}
