import { LRUCache } from 'lru-cache';
import type { ApiKeyWithOwner } from '../api-key.ts';
import type { UserWithSets } from '../user.ts';
import type { ChangeFeed, RecordsChange } from './change-feed.ts';

/** A result of the store; the value is undefined where there is no such record. */
export interface CacheEntry<T> {
  readonly value: T | undefined;
  /** When the query was sent, as by `performance.now()`. */
  readonly at: number;
}

/** How many keys and users are cached (some 20 MB), and how many unknown keys. */
const cacheSize = 20_000;
const unknownSize = 5_000;
/**
 * How long the feed may have been silent before it is no longer trusted, and how long a result is trusted without it, ms.
 * Together with the interval at which open streams are checked (400 ms), either keeps a change made elsewhere well within
 * the promised second.
 */
const silenceMs = 400;
/** See {@link silenceMs}. */
export const unsubscribedTrustMs = 300;

/** Judges how long a result may be used, by how far the change feed reaches. */
export class CacheFreshness {
  readonly #feed: Pick<ChangeFeed, 'notifiedUntil'>;

  constructor(feed: Pick<ChangeFeed, 'notifiedUntil'>) {
    this.#feed = feed;
  }

  /** Whether every change is notified at the moment. */
  isSubscribed(now: number): boolean {
    return now - this.#feed.notifiedUntil < silenceMs;
  }

  isFresh({ at }: CacheEntry<unknown>, now: number): boolean {
    return this.isSubscribed(now) || now - at < unsubscribedTrustMs;
  }

  /** A result was true when it was queried, and for as long as every change has been notified since; ms. */
  ageOf({ at }: CacheEntry<unknown>, now: number): number {
    return now - Math.max(at, this.#feed.notifiedUntil);
  }
}

/** Keys and users as last read from the store. */
export class RecordsCache {
  readonly #keys = new LRUCache<string, CacheEntry<ApiKeyWithOwner>>({ max: cacheSize });
  readonly #hashOfKey = new LRUCache<string, string>({ max: cacheSize });
  readonly #unknownKeys = new LRUCache<string, CacheEntry<ApiKeyWithOwner>>({ max: unknownSize });
  readonly #users = new LRUCache<string, CacheEntry<UserWithSets>>({ max: cacheSize });

  key(hash: string): CacheEntry<ApiKeyWithOwner> | undefined {
    return this.#keys.get(hash);
  }

  /** The hash of a key that is or was cached. */
  hashOf(id: string): string | undefined {
    return this.#hashOfKey.get(id);
  }

  /** The result that there is no such key. */
  unknownKey(hash: string): CacheEntry<ApiKeyWithOwner> | undefined {
    return this.#unknownKeys.get(hash);
  }

  user(id: string): CacheEntry<UserWithSets> | undefined {
    return this.#users.get(id);
  }

  setKey(hash: string, entry: CacheEntry<ApiKeyWithOwner>): void {
    if (entry.value === undefined) {
      this.#keys.delete(hash);
      this.#unknownKeys.set(hash, entry);
      return;
    }
    this.#keys.set(hash, entry);
    this.#hashOfKey.set(entry.value.key.id, hash);
  }

  setUser(id: string, entry: CacheEntry<UserWithSets>): void {
    this.#users.set(id, entry);
  }

  /** Drops everything that the change may affect; null: everything. */
  invalidate(change: RecordsChange | null): void {
    this.#unknownKeys.clear();
    if (change === null) {
      this.#keys.clear();
      this.#users.clear();
      return;
    }
    for (const id of change.keys) {
      const hash = this.#hashOfKey.get(id);
      if (hash !== undefined) this.#keys.delete(hash);
    }
    if (change.users.length > 0) this.#invalidateUsers(new Set(change.users));
  }

  #invalidateUsers(changed: ReadonlySet<string>): void {
    for (const id of changed) this.#users.delete(id);
    for (const [hash, { value }] of this.#keys.entries())
      if (value !== undefined && changed.has(value.key.createdBy)) this.#keys.delete(hash);
  }
}
