import { Cluster } from 'ioredis';
import type { Awaitable } from '../awaitable.ts';
import { RecentCache } from '../recent-cache.ts';
import { NotifiedCache, type NotifiedCacheOptions } from '../remote/notified-cache.ts';
import type { LiveSession } from '../sessions.ts';
import type { RedisLink } from './link.ts';
import { liveFields, liveSessionFrom } from './session-fields.ts';

export interface LivenessOptions
  extends Pick<NotifiedCacheOptions<LiveSession, string>, 'notifications' | 'staleIfErrorMs' | 'elapsed'> {
  readonly link: RedisLink;
  /** Time for which a session seen alive isn't queried again while ends of sessions are notified, ms; 0: always queried. */
  readonly livenessAgeMs: number;
}

/** Sizes of the caches of live sessions (15 to 30 MB without kept claims), of ended ones, and of those found missing. */
const cacheSize = 50_000;
const endedSize = 20_000;
const missingSize = 100;
/** Number of sessions that one command checks. */
const batchSize = 500;
/** Minimum time between two rounds of checks, ms. */
const minIntervalMs = 250;

/** Finds out if a session is alive, mostly without querying the store: see {@link NotifiedCache}. */
export class Liveness {
  readonly #options: LivenessOptions;
  readonly #elapsed: () => number;
  readonly #cache: NotifiedCache<LiveSession, string>;
  /** Instants, by session id, at which a session was found missing before its end was notified: others may be missing, too. */
  readonly #missing = new RecentCache<number>(missingSize);
  /** Ids of ended sessions, whose notification may arrive before the response to an older query. Ids are never reused. */
  readonly #ended = new RecentCache<true>(endedSize);
  readonly #rechecks: NodeJS.Timeout | undefined;
  #missingAt = Number.NEGATIVE_INFINITY;

  constructor(options: LivenessOptions) {
    const { link, livenessAgeMs, notifications, staleIfErrorMs, elapsed } = options;
    const missingAt = () => this.#missingAt;
    this.#options = options;
    this.#elapsed = elapsed ?? (() => performance.now());
    this.#cache = new NotifiedCache({
      notifications: {
        get notifiedSince() {
          return Math.max(notifications.notifiedSince, missingAt());
        },
        get notifiedUntil() {
          return notifications.notifiedUntil;
        },
      },
      breaker: { isOpen: () => link.isDown, isCoolingDown: () => link.isDown, run: (call) => call() },
      size: cacheSize,
      maxAgeMs: livenessAgeMs,
      staleIfErrorMs,
      isUsable: ({ expires }) => expires > link.clock.now(),
      isAffected: (id, _, ended) => id === ended,
      elapsed: this.#elapsed,
    });
    this.#rechecks = this.#startRechecks();
  }

  /** As {@link ../sessions.ts Sessions.findLive}. */
  find(id: string): Awaitable<LiveSession | undefined> {
    if (this.#ended.has(id)) return undefined;
    const session = this.#cache.fresh(id)?.value;
    if (session !== undefined && session.expires > this.#options.link.clock.now()) return session;
    return this.#cache.read(
      id,
      () => this.#query(id),
      ({ value, at }) => value && this.set(value, at),
    );
  }

  /** Caches a session that a query sent at `seenAt` (`performance.now()`) found, unless its end has been notified. */
  set(session: LiveSession, seenAt: number): void {
    if (!this.#ended.has(session.id)) this.#cache.set(session.id, { value: session, at: seenAt });
  }

  delete(id: string): void {
    this.#cache.delete(id);
  }

  /** Notes that a session may have ended: it is queried when it is next requested. */
  doubt(id: string): void {
    this.#cache.doubt([id]);
  }

  /** Notes that a session has ended. */
  end(id: string): void {
    this.#cache.delete(id);
    this.#cache.noteChange(id);
    this.#ended.set(id, true);
    if (this.#missing.delete(id))
      this.#missingAt = Math.max(Number.NEGATIVE_INFINITY, ...this.#missing.values());
  }

  /** Stops the rechecks. */
  close(): void {
    clearInterval(this.#rechecks);
  }

  async #query(id: string): Promise<LiveSession | undefined> {
    const { link } = this.#options;
    const session = await link.read(
      (client) => client.hmget(link.keys.session(id), ...liveFields),
      (fields) => liveSessionFrom(id, fields),
    );
    if (this.#ended.has(id)) return undefined;
    if (session !== undefined && session.expires > link.clock.now()) return session;
    this.#markMissing(id);
    return undefined;
  }

  /** Notes a session that was found missing. If it had not expired, the notification of its end is late, or lost. */
  #markMissing(id: string): void {
    const seen = this.#cache.peek(id);
    this.#cache.delete(id);
    if (seen === undefined || seen.expires <= this.#options.link.clock.now()) return;
    this.#missingAt = this.#elapsed();
    this.#missing.set(id, this.#missingAt);
  }

  /**
   * Starts to recheck the cached sessions that are in use, many at a time, before they get so old that each request has to
   * query the store.
   */
  #startRechecks(): NodeJS.Timeout | undefined {
    const { link, livenessAgeMs } = this.#options;
    if (livenessAgeMs === 0) return undefined;
    const intervalMs = Math.max(minIntervalMs, livenessAgeMs / 2);
    const timer = setInterval(() => {
      if (!link.isDown) void this.#recheckAll(this.#cache.due(intervalMs + minIntervalMs));
    }, intervalMs);
    return timer.unref();
  }

  async #recheckAll(ids: readonly string[]): Promise<void> {
    // A command is bound to one slot of a Cluster, and each session may be in another.
    const size = this.#options.link.client instanceof Cluster ? 1 : batchSize;
    const batches: Promise<void>[] = [];
    for (let start = 0; start < ids.length; start += size)
      batches.push(this.#recheck(ids.slice(start, start + size)));
    // A session that could not be checked stays until it is too old.
    await Promise.allSettled(batches);
  }

  async #recheck(ids: readonly string[]): Promise<void> {
    const { link } = this.#options;
    const sentAt = this.#elapsed();
    const aliveCount = await link.read((client) => client.exists(...ids.map(link.keys.session)));
    if (aliveCount === ids.length) this.#cache.confirm(ids, sentAt);
    else this.#cache.doubt(ids);
  }
}
