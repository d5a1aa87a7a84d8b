import type { AttemptLimit, Attempts } from './attempts.ts';

/** Counters, one for each key, that start anew when their window is over. */
export interface Counters {
  /** Adds one; what it has come to, and how long until its window is over, ms. */
  add(key: string, windowMs: number): Promise<{ readonly count: number; readonly remainingMs: number }>;
  takeBack(key: string, windowMs: number): Promise<void>;
}

/** Attempts by counters that know of no limits. */
export function createCountedAttempts(counters: Counters): Attempts {
  async function giveBack(limits: readonly AttemptLimit[], windowMs: number): Promise<void> {
    for (const { key } of limits) await counters.takeBack(key, windowMs);
  }

  return {
    async count(limits, windowMs) {
      for (const [index, { key, points }] of limits.entries()) {
        const { count, remainingMs } = await counters.add(key, windowMs);
        if (count > points) {
          await giveBack(limits.slice(0, index + 1), windowMs);
          return { allowed: false, retryAfterMs: remainingMs };
        }
      }
      return { allowed: true };
    },
    giveBack,
  };
}
