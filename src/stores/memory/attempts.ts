import { LRUCache } from 'lru-cache';
import { RateLimiterMemory } from 'rate-limiter-flexible';
import type { Attempts } from '../attempts.ts';
import { createCountedAttempts } from '../counted-attempts.ts';

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

  const windowOf = (windowMs: number) => ({ customDuration: Math.min(windowMs, maxWindowMs) / 1000 });

  return createCountedAttempts({
    async add(key, windowMs) {
      counters.set(key, true);
      const { consumedPoints, msBeforeNext } = await limiter.penalty(key, 1, windowOf(windowMs));
      return { count: consumedPoints, remainingMs: msBeforeNext };
    },
    async takeBack(key, windowMs) {
      if (!counters.has(key)) return;
      const { consumedPoints } = await limiter.reward(key, 1, windowOf(windowMs));
      if (consumedPoints > 0) return;
      // Nothing is left to count, or its window has ended since: one that is given back leaves no trace, and pushes
      // out no other.
      counters.delete(key);
      await limiter.delete(key);
    },
  });
}
