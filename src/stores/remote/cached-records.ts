import { Refusal } from '../../errors.ts';
import type { ApiKeyWithOwner } from '../api-key.ts';
import { recordsOperations, wrapCalls } from '../operations.ts';
import { RecentCache } from '../recent-cache.ts';
import type { Records, RemoteRecords } from '../records.ts';
import type { UserWithSets } from '../user.ts';
import { type Breaker, createBreaker } from './breaker.ts';
import type { ChangeFeed, RecordsChange } from './change-feed.ts';
import {
  type Entry,
  isSubscribed,
  NotifiedCache,
  type NotifiedCacheOptions,
  unsubscribedTrustMs,
} from './notified-cache.ts';

export interface CachedRecordsOptions
  extends Pick<NotifiedCacheOptions<object, RecordsChange>, 'staleIfErrorMs' | 'elapsed'> {
  readonly remote: RemoteRecords;
  readonly feed: ChangeFeed;
}

/** Sizes of the caches of keys and of users (some 20 MB), and of unknown keys. */
const cacheSize = 20_000;
const unknownSize = 5_000;
/** Time for which a key that was not found counts as unknown without a query, ms. */
const unknownAgeMs = 2_000;
/** Time for which a read waits for the store, ms. */
const readTimeoutMs = 1_000;
/** The same if a cached result can be used instead, ms: reading a credential and then writing must fail within two seconds. */
const cachedTimeoutMs = 400;
/**
 * Time for which the version stays the same while changes aren't notified, ms: an identity that is cached for a version is used
 * for at most this long.
 */
const unsubscribedVersionMs = 250;

type CacheParts = Omit<CachedRecordsOptions, 'elapsed'> & {
  readonly breaker: Breaker;
  readonly elapsed: () => number;
};

/** Wraps a remote store to cache its keys and users, each in a {@link NotifiedCache}. */
export function createCachedRecords(options: CachedRecordsOptions): Records {
  const { remote, feed, elapsed = () => performance.now() } = options;
  const breaker = createBreaker({ timeoutMs: readTimeoutMs, elapsed });
  const parts = { ...options, breaker, elapsed };
  const cache = new KeysAndUsers(parts);
  const version = new Version(parts);
  feed.onChange((change) => {
    version.noteChange();
    cache.noteChange(change);
  });

  return {
    ...wrapCalls(remote, recordsOperations, (call, operation) => {
      if (operation === 'background') return call;
      // No cached result can replace the store's.
      return async (...args) => {
        if (breaker.isCoolingDown()) throw new Refusal('store_unavailable');
        return call(...args);
      };
    }),
    findApiKeyByHash: (hash) => cache.findApiKeyByHash(hash),
    findApiKey: (id) => cache.findApiKey(id),
    findUser: (id) => cache.findUser(id),
    version: () => version.current(),
    async close() {
      await feed.close();
      await remote.close();
    },
  };
}

class KeysAndUsers {
  readonly #parts: CacheParts;
  readonly #keys: NotifiedCache<ApiKeyWithOwner, RecordsChange>;
  readonly #hashOfKey = new RecentCache<string>(cacheSize);
  readonly #unknownKeys: NotifiedCache<ApiKeyWithOwner, RecordsChange>;
  readonly #users: NotifiedCache<UserWithSets, RecordsChange>;

  constructor(parts: CacheParts) {
    this.#parts = parts;
    const common = { ...parts, notifications: parts.feed, cachedTimeoutMs };
    const ofKeys = { ...common, isAffected: isKeyAffected };
    this.#keys = new NotifiedCache({ ...ofKeys, size: cacheSize });
    this.#unknownKeys = new NotifiedCache({ ...ofKeys, size: unknownSize, maxAgeMs: unknownAgeMs });
    const isAffected = (id: string, _: unknown, { users }: RecordsChange) => users.includes(id);
    this.#users = new NotifiedCache<UserWithSets, RecordsChange>({ ...common, isAffected, size: cacheSize });
  }

  findApiKeyByHash(bytes: Uint8Array): ReturnType<Records['findApiKeyByHash']> {
    const hash = Buffer.from(bytes).toString('base64url');
    const known = this.#keys.fresh(hash);
    if (known !== undefined) return known.value;
    if (this.#unknownKeys.fresh(hash) !== undefined) return undefined;
    return this.#readKey(hash, () => this.#parts.remote.findApiKeyByHash(bytes));
  }

  findApiKey(id: string): ReturnType<Records['findApiKey']> {
    const { remote, breaker } = this.#parts;
    const hash = this.#hashOfKey.get(id);
    if (hash !== undefined)
      return this.#keys.fresh(hash)?.value ?? this.#readKey(hash, () => remote.findApiKey(id));
    if (breaker.isCoolingDown()) throw new Refusal('store_unavailable');
    return breaker.run(async () => remote.findApiKey(id));
  }

  findUser(id: string): ReturnType<Records['findUser']> {
    const known = this.#users.fresh(id);
    return known !== undefined ? known.value : this.#users.read(id, () => this.#parts.remote.findUser(id));
  }

  /** Drops everything that the change may affect; null: drops everything. */
  noteChange(change: RecordsChange | null): void {
    for (const cache of [this.#keys, this.#users]) cache.noteChange(change);
    this.#unknownKeys.clear();
    if (change === null) {
      this.#keys.clear();
      this.#users.clear();
      return;
    }
    const keys = new Set(change.keys);
    const users = new Set(change.users);
    for (const id of users) this.#users.delete(id);
    // All are looked through: the hash of a key in use may have been forgotten.
    if (keys.size + users.size > 0)
      this.#keys.deleteWhere((found) => found !== undefined && isChanged(found, keys, users));
  }

  #readKey(hash: string, load: () => ReturnType<Records['findApiKey']>): ReturnType<Records['findApiKey']> {
    return this.#keys.read(hash, load, (entry) => this.#keepKey(hash, entry));
  }

  /** Caches a key, or that it is unknown, which takes no other key's place: anyone may present any number of unknown keys. */
  #keepKey(hash: string, entry: Entry<ApiKeyWithOwner>): void {
    if (entry.value === undefined) {
      this.#keys.delete(hash);
      this.#unknownKeys.set(hash, entry);
      return;
    }
    this.#keys.set(hash, entry);
    this.#hashOfKey.set(entry.value.key.id, hash);
  }
}

function isChanged({ key }: ApiKeyWithOwner, keys: ReadonlySet<string>, users: ReadonlySet<string>): boolean {
  return keys.has(key.id) || users.has(key.createdBy);
}

/** True if the change may affect the key; always, if it was not found: its id is unknown, and it may have been created since. */
function isKeyAffected(_: string, found: ApiKeyWithOwner | undefined, change: RecordsChange): boolean {
  if (found === undefined) return true;
  return change.keys.includes(found.key.id) || change.users.includes(found.key.createdBy);
}

/** The version of the records as far as this process knows: see {@link ../records.ts Records.version}. */
class Version {
  readonly #parts: CacheParts;
  /** Number of changes notified, plus the number of intervals in which changes may not have been notified. */
  #version = 0;
  #steppedAt: number;

  constructor(parts: CacheParts) {
    this.#parts = parts;
    this.#steppedAt = parts.elapsed();
  }

  noteChange(): void {
    this.#version += 1;
  }

  /** The present version. Throws `store_unavailable` when the store has been unavailable for too long. */
  current(): number {
    const { breaker, feed, staleIfErrorMs, elapsed } = this.#parts;
    const now = elapsed();
    if (isSubscribed(feed, now)) return this.#version;
    const availableAt = Math.max(feed.notifiedUntil, breaker.availableAt);
    if (now - availableAt >= Math.max(staleIfErrorMs(), unsubscribedTrustMs) && breaker.isOpen())
      throw new Refusal('store_unavailable');
    // Without notifications, identities cached for this version have to be read again at short intervals.
    if (now - this.#steppedAt >= unsubscribedVersionMs) {
      this.#steppedAt = now;
      this.#version += 1;
    }
    return this.#version;
  }
}
