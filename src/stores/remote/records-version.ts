import { Refusal } from '../../errors.ts';
import type { Breaker } from './breaker.ts';
import type { ChangeFeed } from './change-feed.ts';
import { type CacheFreshness, unsubscribedTrustMs } from './records-cache.ts';

export interface RecordsVersionOptions {
  readonly breaker: Breaker;
  readonly freshness: CacheFreshness;
  readonly feed: Pick<ChangeFeed, 'notifiedUntil'>;
  /** How long cached results count while the store is unavailable, ms. */
  readonly staleIfErrorMs: () => number;
  /** When the last query that succeeded was sent. */
  readonly lastResultAt: () => number;
  /** A clock as `performance.now()`. */
  readonly elapsed: () => number;
}

/**
 * How long the version stays the same while changes aren't notified, ms. What is cached by it is as old as the result it
 * was made from, and at most this much older.
 */
const unsubscribedVersionMs = 250;

/** The version of the records as far as this process knows: see {@link ./records.ts Records.version}. */
export class RecordsVersion {
  readonly #options: RecordsVersionOptions;
  /** Changes notified, plus intervals in which there may have been any that were not. */
  #version = 0;
  #steppedAt: number;

  constructor(options: RecordsVersionOptions) {
    this.#options = options;
    this.#steppedAt = options.elapsed();
  }

  noteChange(): void {
    this.#version += 1;
  }

  /** Throws `store_unavailable` when the store has been unavailable for too long. */
  current(): number {
    const now = this.#options.elapsed();
    return this.#options.freshness.isSubscribed(now) ? this.#version : this.#unsubscribed(now);
  }

  #unsubscribed(now: number): number {
    const { breaker, feed, staleIfErrorMs, lastResultAt } = this.#options;
    const availableAt = Math.max(feed.notifiedUntil, lastResultAt());
    if (now - availableAt >= Math.max(staleIfErrorMs(), unsubscribedTrustMs) && breaker.isOpen())
      throw new Refusal('store_unavailable');
    // Without notifications, whatever is cached by this number has to be read again at short intervals.
    if (now - this.#steppedAt >= unsubscribedVersionMs) {
      this.#steppedAt = now;
      this.#version += 1;
    }
    return this.#version;
  }
}
