import { LRUCache } from 'lru-cache';
import type { LiveSession } from '../sessions.ts';

/** A session that was seen alive. Instants as by `performance.now()`. */
interface Entry {
  readonly session: LiveSession;
  /** When the query that saw it was sent. */
  seenAt: number;
  /** Whether it was requested since then. */
  wasRequested: boolean;
  /** Whether the next request has to query the store, whatever the age. */
  isDoubtful: boolean;
}

/** How far the notifications of ended sessions have certainly been received. Instants as by `performance.now()`. */
export interface Subscription {
  /** Since when no notification was missed; null while unsubscribed. */
  readonly since: number | null;
  /** As `since`, of the last subscription, whether it is still up or not. */
  readonly lastSince: number;
  /** Every notification sent before this instant has been received. */
  readonly until: number;
}

/**
 * How long the subscription may have been silent before it is no longer trusted, in ms: together with the interval at
 * which open streams are checked (400 ms), this keeps a revocation elsewhere within the promised second.
 */
const silenceMs = 500;
/** How long a result is trusted that no notification would correct, in ms. */
const unsubscribedTrustMs = 500;
/** How many sessions are cached (some 15 MB), how many that have ended, and how many that went missing. */
const cacheSize = 50_000;
const endedSize = 20_000;
const missingSize = 100;

/** Sessions seen alive by this process: they let a request with a token pass without querying the store. */
export class LivenessCache {
  readonly #maxAgeMs: number;
  readonly #entries = new LRUCache<string, Entry>({ max: cacheSize });
  /** When sessions were found missing without a notification: what was seen before may be missing, too. */
  readonly #missing = new LRUCache<string, number>({ max: missingSize });
  /** A notification may arrive before the response to an older query. Ids are never reused, so this stays true. */
  readonly #ended = new LRUCache<string, true>({ max: endedSize });

  /** `maxAgeMs`: how long a session seen alive needs no new query while subscribed. */
  constructor(maxAgeMs: number) {
    this.#maxAgeMs = maxAgeMs;
  }

  hasEnded(id: string): boolean {
    return this.#ended.has(id);
  }

  /** Caches what a query sent at `seenAt` saw, unless a notification said that it has ended. */
  set(session: LiveSession, seenAt: number): void {
    if (this.#ended.has(session.id)) return;
    this.#entries.set(session.id, { session, seenAt, wasRequested: false, isDoubtful: false });
  }

  /** The session if no query is needed. */
  fresh(id: string, now: number, subscription: Subscription): LiveSession | undefined {
    const entry = this.#entries.get(id);
    if (entry === undefined || entry.isDoubtful) return undefined;
    entry.wasRequested = true;
    const isSubscribed =
      subscription.since !== null &&
      entry.seenAt >= subscription.since &&
      now - subscription.until < silenceMs;
    const maxAge = isSubscribed ? this.#maxAgeMs : Math.min(unsubscribedTrustMs, this.#maxAgeMs);
    return now - entry.seenAt < maxAge ? entry.session : undefined;
  }

  /**
   * The session if it was alive within `maxAgeMs`, as far as it was seen or its end would have been notified: good enough
   * while the store is unavailable.
   */
  aliveWithin(
    id: string,
    maxAgeMs: number,
    now: number,
    subscription: Subscription,
  ): LiveSession | undefined {
    const entry = this.#entries.peek(id);
    if (entry === undefined) return undefined;
    const { seenAt, isDoubtful } = entry;
    const isSubscribed = !isDoubtful && seenAt >= subscription.lastSince && this.#isAfterLosses(seenAt);
    const aliveAt = isSubscribed ? Math.max(seenAt, subscription.until) : seenAt;
    return now - aliveAt < maxAgeMs ? entry.session : undefined;
  }

  /** It was found missing at `now`, by the store's clock `storeNow`; its end may still be notified. */
  markMissing(id: string, now: number, storeNow: number): void {
    const entry = this.#entries.peek(id);
    if (entry === undefined) return;
    this.#entries.delete(id);
    if (entry.session.expires > storeNow) this.#missing.set(id, now);
  }

  #isAfterLosses(seenAt: number): boolean {
    for (const lostAt of this.#missing.values()) if (lostAt >= seenAt) return false;
    return true;
  }

  /** Requested sessions whose entries get too old within `ahead` ms. */
  dueForRecheck(now: number, ahead: number): string[] {
    const ids: string[] = [];
    for (const [id, entry] of this.#entries.entries())
      if (entry.wasRequested && now + ahead - entry.seenAt >= this.#maxAgeMs) ids.push(id);
    return ids;
  }

  /** They were seen alive again by a query sent at `seenAt`. */
  confirm(ids: readonly string[], seenAt: number): void {
    for (const id of ids) {
      const entry = this.#entries.peek(id);
      if (entry === undefined) continue;
      entry.seenAt = seenAt;
      entry.wasRequested = false;
    }
  }

  /** At least one of them may have ended: each is queried again when it is next requested. */
  markDoubtful(ids: readonly string[]): void {
    for (const id of ids) {
      const entry = this.#entries.peek(id);
      if (entry !== undefined) entry.isDoubtful = true;
    }
  }

  delete(id: string): void {
    this.#entries.delete(id);
  }

  end(id: string): void {
    this.#entries.delete(id);
    this.#missing.delete(id);
    this.#ended.set(id, true);
  }
}
