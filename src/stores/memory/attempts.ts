import { LRUCache } from 'lru-cache';
import { RateLimiterMemory } from 'rate-limiter-flexible';
import type { AttemptLimit, AttemptOutcome, Attempts } from '../attempts.ts';

/** The longest a timer can wait: the limiter forgets a counter with a longer window at once. */
const maxWindowMs = 2 ** 31 - 1;

export interface MemoryAttemptsOptions {
  /** How many counters are kept; the least recently counted is dropped first. Default 100,000 (some 30 MB). */
  readonly maxCounters?: number;
}

/**
 * Counts attempts in this process alone. Memory is bounded: beyond `maxCounters` the least recently counted goes. What
 * is refused or given back leaves no counter, so that one address can't push others out by spraying names. Windows are
 * cut to 24 days.
 */
export function createMemoryAttempts({ maxCounters = 100_000 }: MemoryAttemptsOptions = {}): Attempts {
  // Each limit brings its own points and window, so the limiter itself only counts.
  const limiter = new RateLimiterMemory({ points: Number.MAX_SAFE_INTEGER, duration: 0, keyPrefix: '' });
  const counters = new LRUCache<string, true>({
    max: maxCounters,
    dispose: (_, key, reason) => reason === 'evict' && limiter.delete(key),
  });

  function countOne(key: string, windowMs: number) {
    counters.set(key, true);
    return limiter.penalty(key, 1, { customDuration: Math.min(windowMs, maxWindowMs) / 1000 });
  }

  async function giveBack(limits: readonly AttemptLimit[], windowMs: number): Promise<void> {
    for (const { key } of limits) {
      if (!counters.has(key)) continue;
      const customDuration = Math.min(windowMs, maxWindowMs) / 1000;
      const counter = await limiter.reward(key, 1, { customDuration });
      if (counter.consumedPoints > 0) continue;
      // Nothing is left to count, or its window has ended since: one that is given back leaves no trace, and pushes
      // out no other.
      counters.delete(key);
      await limiter.delete(key);
    }
  }

  return {
    async count(limits, windowMs): Promise<AttemptOutcome> {
      for (const [index, { key, points }] of limits.entries()) {
        const counter = await countOne(key, windowMs);
        if (counter.consumedPoints > points) {
          await giveBack(limits.slice(0, index + 1), windowMs);
          return { allowed: false, retryAfterMs: counter.msBeforeNext };
        }
      }
      return { allowed: true };
    },
    giveBack,
  };
}
