import { Refusal } from '../../errors.ts';
import type { Awaitable } from '../awaitable.ts';
import { type Breaker, isUnavailable } from './breaker.ts';
import type { RecordsChange } from './change-feed.ts';
import type { CacheEntry, CacheFreshness } from './records-cache.ts';
import { resultOrFallback } from './timeout.ts';

/** One query for a record that may be cached. */
export interface CacheableQuery<T> {
  /** The same for all queries that have the same result. */
  readonly name: string;
  /** What is cached of it now. */
  readonly cached: () => CacheEntry<T> | undefined;
  readonly load: () => Awaitable<T | undefined>;
  /** Whether the change may affect that result. */
  readonly isAffected: (value: T | undefined, change: RecordsChange) => boolean;
  readonly cache: (entry: CacheEntry<T>) => void;
}

export interface RecordsReaderOptions {
  readonly breaker: Breaker;
  readonly freshness: CacheFreshness;
  /** How long a cached result counts while the store is unavailable, ms. */
  readonly staleIfErrorMs: () => number;
  /** A clock as `performance.now()`. */
  readonly elapsed: () => number;
}

/** A query in flight, and the changes notified since it was sent. */
interface Flight {
  readonly changes: (RecordsChange | null)[];
  result?: Promise<unknown>;
}

/**
 * How long a query waits where a cached result could be used instead, ms: less than without one, because a write with the
 * same credential has to be answered within two seconds, too.
 */
const cachedTimeoutMs = 400;

/** Reads through a cache: parallel queries are sent once, and an unavailable store is bridged by what is cached. */
export class RecordsReader {
  readonly #options: RecordsReaderOptions;
  /** The newest flight of each name, and all of them. */
  readonly #newest = new Map<string, Flight>();
  readonly #flights = new Set<Flight>();
  #lastResultAt = Number.NEGATIVE_INFINITY;

  constructor(options: RecordsReaderOptions) {
    this.#options = options;
  }

  /** When the last query that succeeded was sent, as by `performance.now()`. */
  get lastResultAt(): number {
    return this.#lastResultAt;
  }

  /** Notes a change for the queries in flight, whose results may be from before it. */
  noteChange(change: RecordsChange | null): void {
    for (const flight of this.#flights) flight.changes.push(change);
  }

  /** Queries the store for what isn't fresh in the cache. Throws or rejects `store_unavailable`. */
  read<T>(query: CacheableQuery<T>): Awaitable<T | undefined> {
    const { breaker } = this.#options;
    const usable = () => this.#usable(query);
    const usableInstead = (error: unknown): T | undefined => {
      const found = isUnavailable(error) ? usable() : undefined;
      if (found === undefined) throw error;
      return found.value;
    };
    const isCached = usable() !== undefined;
    if (breaker.isCoolingDown() || (breaker.isOpen() && isCached))
      return usableInstead(new Refusal('store_unavailable'));
    const result = this.#loadOnce(query).catch(usableInstead);
    return isCached ? resultOrFallback(result, cachedTimeoutMs, usable) : result;
  }

  /** What may be used while the store is unavailable; read from the cache each time, as a change may have dropped it. */
  #usable<T>(query: CacheableQuery<T>): CacheEntry<T> | undefined {
    const { freshness, elapsed, staleIfErrorMs } = this.#options;
    const entry = query.cached();
    return entry?.value !== undefined && freshness.ageOf(entry, elapsed()) < staleIfErrorMs()
      ? entry
      : undefined;
  }

  /** Joins a query in flight, unless a change has been notified since: its result may be from before that. */
  #loadOnce<T>(query: CacheableQuery<T>): Promise<T | undefined> {
    const { name } = query;
    const inFlight = this.#newest.get(name);
    if (inFlight?.changes.length === 0) return inFlight.result as Promise<T | undefined>;
    const flight: Flight = { changes: [] };
    const result = this.#load(query, flight).finally(() => {
      this.#flights.delete(flight);
      if (this.#newest.get(name) === flight) this.#newest.delete(name);
    });
    flight.result = result;
    this.#flights.add(flight);
    this.#newest.set(name, flight);
    return result;
  }

  async #load<T>({ load, isAffected, cache }: CacheableQuery<T>, flight: Flight): Promise<T | undefined> {
    const { breaker, elapsed } = this.#options;
    const at = elapsed();
    const value = await breaker.run(async () => load());
    this.#lastResultAt = Math.max(this.#lastResultAt, at);
    // Whether the store read it before or after a change notified in the meantime is unknown: it isn't cached then.
    if (!flight.changes.some((change) => change === null || isAffected(value, change))) cache({ value, at });
    return value;
  }
}
