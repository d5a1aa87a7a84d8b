import { Refusal } from '../../errors.ts';
import type { Awaitable } from '../awaitable.ts';
import { RecentCache } from '../recent-cache.ts';
import { type Breaker, isUnavailable } from './breaker.ts';
import { resultOrFallback } from './timeout.ts';

/** Coverage of the notifications of a store's changes. Instants are by `performance.now()`. */
export interface Notifications {
  /** Beginning of the period in which every change has been notified. */
  readonly notifiedSince: number;
  /** End of the period in which every change has been notified. It doesn't advance while disconnected; 0: never connected. */
  readonly notifiedUntil: number;
}

/**
 * Time since {@link Notifications.notifiedUntil} after which notifications are no longer trusted, ms. Together with the interval
 * at which open streams are checked (400 ms), it stays well below the second within which a change made elsewhere is promised to
 * take effect; so does {@link unsubscribedTrustMs}.
 */
const silenceMs = 400;
/** Age up to which a value is used while changes aren't notified, ms: see {@link silenceMs}. */
export const unsubscribedTrustMs = 300;

/** True if changes are being notified at `now`, by `performance.now()`. */
export function isSubscribed({ notifiedUntil }: Notifications, now: number): boolean {
  return now - notifiedUntil < silenceMs;
}

/** A value as read from the store; undefined if the store has none. */
export interface Entry<Value> {
  readonly value: Value | undefined;
  /** Instant of the query, by `performance.now()`. */
  readonly at: number;
}

interface Cached<Value> {
  value: Value | undefined;
  at: number;
  /** True if the value has been used since it was queried. */
  wasUsed: boolean;
  /** True if a change may have been missed: the next read queries the store, whatever the age. */
  isDoubtful: boolean;
}

/** A query in flight, and the changes notified since it was sent. */
interface Flight<Value, Change> {
  readonly changes: (Change | null)[];
  result?: Promise<Value | undefined>;
}

export interface NotifiedCacheOptions<Value, Change> {
  readonly notifications: Notifications;
  readonly breaker: Pick<Breaker, 'isOpen' | 'isCoolingDown' | 'run'>;
  /** Number of the values used last that are always kept; at most twice as many are. */
  readonly size: number;
  /** Age up to which a value is used while changes are notified, ms; default: any. */
  readonly maxAgeMs?: number;
  /** Age up to which a value is used while the store is unavailable, ms; a reload may change it. */
  readonly staleIfErrorMs: () => number;
  /** True if the value may be used while the store is unavailable; default: any may. */
  readonly isUsable?: (value: Value) => boolean;
  /** Time to wait for a query if a cached value can be used instead, ms; default: no limit. */
  readonly cachedTimeoutMs?: number;
  /** True if a change may affect the result of a query; `value` is undefined if there is none, or it isn't known yet. */
  readonly isAffected: (key: string, value: Value | undefined, change: Change) => boolean;
  /** A clock like `performance.now()`, which is the default. */
  readonly elapsed?: () => number;
}

/**
 * A cache of a remote store's values. A value is trusted while changes are notified, for a moment while they aren't, and
 * for `staleIfErrorMs` while the store is unavailable. Parallel queries for a key are sent as one.
 */
export class NotifiedCache<Value extends object, Change> {
  readonly #options: NotifiedCacheOptions<Value, Change>;
  readonly #elapsed: () => number;
  readonly #maxAgeMs: number;
  readonly #entries: RecentCache<Cached<Value>>;
  /** Newest flight of each key, and all of them. */
  readonly #newest = new Map<string, Flight<Value, Change>>();
  readonly #flights = new Set<Flight<Value, Change>>();

  constructor(options: NotifiedCacheOptions<Value, Change>) {
    this.#options = options;
    this.#elapsed = options.elapsed ?? (() => performance.now());
    this.#maxAgeMs = options.maxAgeMs ?? Number.POSITIVE_INFINITY;
    this.#entries = new RecentCache(options.size);
  }

  /** The cached entry, if it may be used without a query. */
  fresh(key: string): Entry<Value> | undefined {
    const entry = this.#entries.get(key);
    if (entry === undefined || entry.isDoubtful) return undefined;
    entry.wasUsed = true;
    const { notifications } = this.#options;
    const now = this.#elapsed();
    const isNotified = entry.at >= notifications.notifiedSince && isSubscribed(notifications, now);
    const trustMs = isNotified ? this.#maxAgeMs : Math.min(unsubscribedTrustMs, this.#maxAgeMs);
    return now - entry.at < trustMs ? entry : undefined;
  }

  /**
   * The value, if it may be used while the store is unavailable. Its age counts from the last instant at which it was known to be
   * true: that of the query, or the one up to which every change since has been notified.
   */
  usable(key: string): Value | undefined {
    const { notifications, staleIfErrorMs, isUsable } = this.#options;
    const entry = this.#entries.get(key);
    if (entry?.value === undefined || isUsable?.(entry.value) === false) return undefined;
    const isNotified = !entry.isDoubtful && entry.at >= notifications.notifiedSince;
    const trueAt = isNotified ? Math.max(entry.at, notifications.notifiedUntil) : entry.at;
    return this.#elapsed() - trueAt < staleIfErrorMs() ? entry.value : undefined;
  }

  /**
   * Queries the store with `load`; while it is unavailable or slow, returns the cached value if that is {@link usable}, or throws
   * or rejects `store_unavailable`. `keep` caches the result, by default under the key, unless a change may have overtaken it.
   */
  read(
    key: string,
    load: () => Awaitable<Value | undefined>,
    keep: (entry: Entry<Value>) => void = (entry) => this.set(key, entry),
  ): Awaitable<Value | undefined> {
    const { breaker, cachedTimeoutMs } = this.#options;
    // Read from the cache each time, as a change may have dropped it.
    const usableInstead = (error: unknown): Value => {
      const value = isUnavailable(error) ? this.usable(key) : undefined;
      if (value === undefined) throw error;
      return value;
    };
    const isCached = this.usable(key) !== undefined;
    if (isCached ? breaker.isOpen() : breaker.isCoolingDown())
      return usableInstead(new Refusal('store_unavailable'));
    const result = this.#loadOnce(key, load, keep).catch(usableInstead);
    if (!isCached || cachedTimeoutMs === undefined) return result;
    return resultOrFallback(result, cachedTimeoutMs, () => this.usable(key));
  }

  set(key: string, { value, at }: Entry<Value>): void {
    this.#entries.set(key, { value, at, wasUsed: false, isDoubtful: false });
  }

  /** The value, whatever its age. */
  peek(key: string): Value | undefined {
    return this.#entries.get(key)?.value;
  }

  delete(key: string): void {
    this.#entries.delete(key);
  }

  deleteWhere(isDropped: (value: Value | undefined) => boolean): void {
    for (const [key, { value }] of this.#entries.entries()) if (isDropped(value)) this.#entries.delete(key);
  }

  clear(): void {
    this.#entries.clear();
  }

  /** Notes a change for the queries in flight, whose results may be from before it; null: anything may have changed. */
  noteChange(change: Change | null): void {
    for (const flight of this.#flights) flight.changes.push(change);
  }

  /** Keys of values that have been used since their query, and get too old within `aheadMs`. */
  due(aheadMs: number): readonly string[] {
    const oldest = this.#elapsed() + aheadMs - this.#maxAgeMs;
    const used = [...this.#entries.entries()].filter(([, { wasUsed, at }]) => wasUsed && at <= oldest);
    return used.map(([key]) => key);
  }

  /** Notes that a query sent at `at` found the values unchanged. */
  confirm(keys: readonly string[], at: number): void {
    for (const entry of this.#cached(keys)) Object.assign(entry, { at, wasUsed: false });
  }

  /** Notes that the value of at least one of the keys may have changed. */
  doubt(keys: readonly string[]): void {
    for (const entry of this.#cached(keys)) entry.isDoubtful = true;
  }

  #cached(keys: readonly string[]): readonly Cached<Value>[] {
    return keys.flatMap((key) => this.#entries.get(key) ?? []);
  }

  /** Joins the query in flight for the key; sends one if there is none, or a change notified since may affect it. */
  #loadOnce(
    key: string,
    load: () => Awaitable<Value | undefined>,
    keep: (entry: Entry<Value>) => void,
  ): Promise<Value | undefined> {
    const inFlight = this.#newest.get(key);
    if (inFlight?.result !== undefined && !this.#isOvertaken(key, undefined, inFlight))
      return inFlight.result;
    const flight: Flight<Value, Change> = { changes: [] };
    const query = async () => {
      const at = this.#elapsed();
      const value = await this.#options.breaker.run(async () => load());
      // The store may have read the value before a change that has been notified in the meantime.
      if (!this.#isOvertaken(key, value, flight)) keep({ value, at });
      return value;
    };
    this.#flights.add(flight);
    this.#newest.set(key, flight);
    flight.result = query().finally(() => {
      this.#flights.delete(flight);
      if (this.#newest.get(key) === flight) this.#newest.delete(key);
    });
    return flight.result;
  }

  #isOvertaken(key: string, value: Value | undefined, { changes }: Flight<Value, Change>): boolean {
    const { isAffected } = this.#options;
    return changes.some((change) => change === null || isAffected(key, value, change));
  }
}
