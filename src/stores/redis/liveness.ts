import { Refusal } from '../../errors.ts';
import type { Awaitable } from '../awaitable.ts';
import type { LiveSession } from '../sessions.ts';
import type { Keys } from './keys.ts';
import type { RedisLink } from './link.ts';
import type { LivenessCache, Subscription } from './liveness-cache.ts';
import { liveFields, liveSessionFrom } from './session-fields.ts';

export interface LivenessOptions {
  readonly link: RedisLink;
  readonly keys: Keys;
  readonly cache: LivenessCache;
  readonly subscription: Subscription;
  /** How long a session seen alive counts while the store is unavailable, ms. */
  readonly staleIfErrorMs: () => number;
}

/** Finds whether a session is alive, mostly without querying the store. */
export class Liveness {
  readonly #options: LivenessOptions;
  readonly #queries = new Map<string, Promise<LiveSession | undefined>>();

  constructor(options: LivenessOptions) {
    this.#options = options;
  }

  /** As {@link ../sessions.ts Sessions.findLive}. */
  find(id: string): Awaitable<LiveSession | undefined> {
    const { link, cache, subscription } = this.#options;
    if (cache.hasEnded(id)) return undefined;
    const session = cache.fresh(id, performance.now(), subscription);
    if (session !== undefined && session.expires > link.clock.now()) return session;
    return link.isDown ? this.#seenBefore(id, new Refusal('store_unavailable')) : this.#queryOnce(id);
  }

  /** Parallel requests for a session share one query. */
  #queryOnce(id: string): Promise<LiveSession | undefined> {
    const inFlight = this.#queries.get(id);
    if (inFlight !== undefined) return inFlight;
    const query = this.#query(id).finally(() => this.#queries.delete(id));
    this.#queries.set(id, query);
    return query;
  }

  async #query(id: string): Promise<LiveSession | undefined> {
    const { link, keys, cache } = this.#options;
    const sentAt = performance.now();
    let session: LiveSession | undefined;
    try {
      session = await link.read(
        (client) => client.hmget(keys.session(id), ...liveFields),
        (fields) => liveSessionFrom(id, fields),
      );
    } catch (error) {
      return this.#seenBefore(id, error);
    }
    if (cache.hasEnded(id)) return undefined;
    if (session === undefined || session.expires <= link.clock.now()) {
      cache.markMissing(id, performance.now(), link.clock.now());
      return undefined;
    }
    cache.set(session, sentAt);
    return session;
  }

  /** While the store is unavailable, a session seen alive a short while ago counts; throws `error` for any other. */
  #seenBefore(id: string, error: unknown): LiveSession {
    const { link, cache, subscription, staleIfErrorMs } = this.#options;
    const session = cache.aliveWithin(id, staleIfErrorMs(), performance.now(), subscription);
    if (session === undefined || session.expires <= link.clock.now()) throw error;
    return session;
  }
}
