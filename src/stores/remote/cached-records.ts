import { Refusal } from '../../errors.ts';
import type { ApiKeyWithOwner } from '../api-key.ts';
import { recordsOperations, wrapCalls } from '../operations.ts';
import type { Records, RemoteRecords } from '../records.ts';
import { createBreaker } from './breaker.ts';
import type { ChangeFeed, RecordsChange } from './change-feed.ts';
import { type CacheEntry, CacheFreshness, RecordsCache } from './records-cache.ts';
import { RecordsReader } from './records-reader.ts';
import { RecordsVersion } from './records-version.ts';

export interface CachedRecordsOptions {
  readonly remote: RemoteRecords;
  readonly feed: ChangeFeed;
  /** Time for which a cached result counts while the store is unavailable, ms; a reload may change it. */
  readonly staleIfErrorMs: () => number;
  /** A clock as `performance.now()`, which is the default. */
  readonly elapsed?: () => number;
}

/** How long an unknown key counts as unknown, ms. */
const unknownAgeMs = 2_000;
/** How long a read waits for the store, ms. */
const readTimeoutMs = 1_000;

type CachedReads = Pick<Records, 'findApiKeyByHash' | 'findApiKey' | 'findUser'>;
/**
 * Caches the keys and users of a remote store: invalidated as soon as the feed notifies a change, trusted for a moment
 * while it doesn't, and used for `staleIfErrorMs` while the store is unavailable.
 */
export function createCachedRecords(options: CachedRecordsOptions): Records {
  const { remote, feed, staleIfErrorMs, elapsed = () => performance.now() } = options;
  const breaker = createBreaker({ timeoutMs: readTimeoutMs, elapsed });
  const freshness = new CacheFreshness(feed);
  const cache = new RecordsCache();
  const reader = new RecordsReader({ breaker, freshness, staleIfErrorMs, elapsed });
  const lastResultAt = () => reader.lastResultAt;
  const version = new RecordsVersion({ breaker, freshness, feed, staleIfErrorMs, lastResultAt, elapsed });

  function invalidate(change: RecordsChange | null): void {
    version.noteChange();
    reader.noteChange(change);
    cache.invalidate(change);
  }
  feed.onChange(invalidate);

  return {
    ...wrapCalls(remote, recordsOperations, (call, operation) => {
      if (operation === 'background') return call;
      // No cached result can replace the store's.
      return async (...args) => {
        if (breaker.isCoolingDown()) throw new Refusal('store_unavailable');
        return call(...args);
      };
    }),
    ...createCachedReads({ remote, cache, freshness, reader, elapsed }),
    version: () => version.current(),
    async close() {
      await feed.close();
      await remote.close();
    },
  };
}

interface CachedReadsParts {
  readonly remote: RemoteRecords;
  readonly cache: RecordsCache;
  readonly freshness: CacheFreshness;
  readonly reader: RecordsReader;
  readonly elapsed: () => number;
}

function createCachedReads({ remote, cache, freshness, reader, elapsed }: CachedReadsParts): CachedReads {
  function fresh<T>(entry: CacheEntry<T> | undefined): entry is CacheEntry<T> {
    return entry !== undefined && freshness.isFresh(entry, elapsed());
  }

  return {
    findApiKeyByHash(bytes) {
      const hash = Buffer.from(bytes).toString('base64url');
      const known = cache.key(hash);
      if (fresh(known)) return known.value;
      const unknown = cache.unknownKey(hash);
      if (fresh(unknown) && elapsed() - unknown.at < unknownAgeMs) return undefined;
      return reader.read({
        name: `key ${hash}`,
        cached: () => cache.key(hash),
        load: () => remote.findApiKeyByHash(bytes),
        isAffected: isKeyAffected,
        cache: (entry) => cache.setKey(hash, entry),
      });
    },
    findApiKey(id) {
      const hash = cache.hashOf(id);
      const cached = () => (hash === undefined ? undefined : cache.key(hash));
      const known = cached();
      if (fresh(known)) return known.value;
      return reader.read({
        name: `id ${id}`,
        cached,
        load: () => remote.findApiKey(id),
        isAffected: isKeyAffected,
        cache: (entry) => (hash === undefined ? undefined : cache.setKey(hash, entry)),
      });
    },
    findUser(id) {
      const known = cache.user(id);
      if (fresh(known)) return known.value;
      return reader.read({
        name: `user ${id}`,
        cached: () => cache.user(id),
        load: () => remote.findUser(id),
        isAffected: (_, change) => change.users.includes(id),
        cache: (entry) => cache.setUser(id, entry),
      });
    },
  };
}

/** A key that was not found may have been created since, or be one whose hash doesn't tell its id. */
function isKeyAffected(found: ApiKeyWithOwner | undefined, change: RecordsChange): boolean {
  if (found === undefined) return true;
  return change.keys.includes(found.key.id) || change.users.includes(found.key.createdBy);
}
