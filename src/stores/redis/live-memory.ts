import { LRUCache } from 'lru-cache';
import type { LiveSession } from '../sessions.ts';

/** A session that was seen alive. Instants as by `performance.now()`. */
interface Seen {
  readonly session: LiveSession;
  /** When the look that saw it was sent. */
  seenAt: number;
  /** Whether it was asked for since then. */
  wanted: boolean;
  /** Whether the next request has to look, whatever its age. */
  doubtful: boolean;
}

/** How much of what is told about endings has certainly been heard. Instants as by `performance.now()`. */
export interface Subscription {
  /** Since when nothing told was missed; null while not listening. */
  readonly since: number | null;
  /** As `since`, of the last time it listened, whether it still does or not. */
  readonly lastSince: number;
  /** Whatever was told before this instant has been heard. */
  readonly until: number;
}

/**
 * How long nothing new may have been heard before the silence is not trusted, in ms: with what passes until open streams
 * are looked at (400 ms) this keeps a revocation elsewhere within the promised second.
 */
const silenceMs = 500;
/** How long a look is trusted that nothing told would correct, in ms. */
const unsubscribedTrustMs = 500;
/** How many sessions are remembered (some 15 MB), and how many that have ended. */
const memorySize = 50_000;
const endedSize = 20_000;
const vanishedSize = 100;

/** Sessions seen alive by this process: what makes a request with a token need no look into the store. */
export class LiveMemory {
  readonly #maxAgeMs: number;
  readonly #seen = new LRUCache<string, Seen>({ max: memorySize });
  // An ending may be heard before the answer to an older look arrives. Ids are never used again, so this stays true.
  /** When sessions were found gone of which no end was told: what was seen before may be gone, too. */
  readonly #vanished = new LRUCache<string, number>({ max: vanishedSize });
  readonly #ended = new LRUCache<string, true>({ max: endedSize });

  /** `maxAgeMs`: how long a session seen alive needs no new look while endings are heard. */
  constructor(maxAgeMs: number) {
    this.#maxAgeMs = maxAgeMs;
  }

  hasEnded(id: string): boolean {
    return this.#ended.has(id);
  }

  /** Remembers what a look sent at `seenAt` saw, unless its end was heard meanwhile. */
  remember(session: LiveSession, seenAt: number): void {
    if (this.#ended.has(session.id)) return;
    this.#seen.set(session.id, { session, seenAt, wanted: false, doubtful: false });
  }

  /** The session if no look is needed. */
  trusted(id: string, now: number, subscription: Subscription): LiveSession | undefined {
    const seen = this.#seen.get(id);
    if (seen === undefined || seen.doubtful) return undefined;
    seen.wanted = true;
    const isSubscribed =
      subscription.since !== null &&
      seen.seenAt >= subscription.since &&
      now - subscription.until < silenceMs;
    const maxAge = isSubscribed ? this.#maxAgeMs : Math.min(unsubscribedTrustMs, this.#maxAgeMs);
    return now - seen.seenAt < maxAge ? seen.session : undefined;
  }

  /**
   * The session if it was alive within `maxAgeMs`, as far as it was seen or its end would have been heard: good enough while
   * the store is away.
   */
  aliveWithin(
    id: string,
    maxAgeMs: number,
    now: number,
    subscription: Subscription,
  ): LiveSession | undefined {
    const seen = this.#seen.peek(id);
    if (seen === undefined) return undefined;
    const { seenAt, doubtful } = seen;
    const isSubscribed = !doubtful && seenAt >= subscription.lastSince && this.#isFromAfterLosses(seenAt);
    const aliveAt = isSubscribed ? Math.max(seenAt, subscription.until) : seenAt;
    return now - aliveAt < maxAgeMs ? seen.session : undefined;
  }

  /** It was found gone at `now`, by the store's clock `storeNow`; its end may still be told. */
  vanish(id: string, now: number, storeNow: number): void {
    const seen = this.#seen.peek(id);
    if (seen === undefined) return;
    this.#seen.delete(id);
    if (seen.session.expires > storeNow) this.#vanished.set(id, now);
  }

  #isFromAfterLosses(seenAt: number): boolean {
    for (const lostAt of this.#vanished.values()) if (lostAt >= seenAt) return false;
    return true;
  }

  /** Sessions in use whose age is coming to its end, `ahead` ms from now. */
  soonTooOld(now: number, ahead: number): string[] {
    const ids: string[] = [];
    for (const [id, seen] of this.#seen.entries())
      if (seen.wanted && now + ahead - seen.seenAt >= this.#maxAgeMs) ids.push(id);
    return ids;
  }

  /** They were seen alive again by a look sent at `seenAt`. */
  confirm(ids: readonly string[], seenAt: number): void {
    for (const id of ids) {
      const seen = this.#seen.peek(id);
      if (seen === undefined) continue;
      seen.seenAt = seenAt;
      seen.wanted = false;
    }
  }

  /** One of them has gone without a word: each is looked at when it is next asked for. */
  doubt(ids: readonly string[]): void {
    for (const id of ids) {
      const seen = this.#seen.peek(id);
      if (seen !== undefined) seen.doubtful = true;
    }
  }

  forget(id: string): void {
    this.#seen.delete(id);
  }

  end(id: string): void {
    this.#seen.delete(id);
    this.#vanished.delete(id);
    this.#ended.set(id, true);
  }
}
