import { RateLimiterRedis } from 'rate-limiter-flexible';
import { Refusal } from '../../errors.ts';
import type { AttemptLimit, AttemptOutcome, Attempts } from '../attempts.ts';
import type { Keys } from './keys.ts';
import type { RedisLink } from './link.ts';
import { scripts } from './scripts.ts';

/**
 * Counts attempts in Redis, for all gateways together. While Redis is away nothing is allowed: it rejects
 * `store_unavailable`. Windows are whole seconds there.
 */
export function createRedisAttempts(link: RedisLink, keys: Keys): Attempts {
  // The limiter talks to Redis through our link, so that its commands, too, are bounded in time and never late.
  const client = {
    async rlflxIncr([key = '', points = '', seconds = '']: readonly string[]) {
      const [, , count, remainingMs] = await link.run(scripts.countAttempt, keys.attempts(key), [
        points,
        seconds,
      ]);
      if (!Number.isSafeInteger(count) || !Number.isSafeInteger(remainingMs))
        throw new Refusal('store_unavailable', { cause: 'no count' });
      return [count, remainingMs];
    },
  };
  // Each limit brings its own points and window, so the limiter itself only counts.
  const limiter = new RateLimiterRedis({
    storeClient: client,
    keyPrefix: '',
    points: Number.MAX_SAFE_INTEGER,
    duration: 1,
  });
  const secondsOf = (windowMs: number) => ({ customDuration: Math.max(1, Math.ceil(windowMs / 1000)) });

  async function giveBack(limits: readonly AttemptLimit[], windowMs: number): Promise<void> {
    for (const { key } of limits) await limiter.reward(key, 1, secondsOf(windowMs));
  }

  return {
    async count(limits, windowMs): Promise<AttemptOutcome> {
      for (const [index, { key, points }] of limits.entries()) {
        const counter = await limiter.penalty(key, 1, secondsOf(windowMs));
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
