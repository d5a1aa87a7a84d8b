import { RateLimiterRedis } from 'rate-limiter-flexible';
import { Refusal } from '../../errors.ts';
import type { Attempts } from '../attempts.ts';
import { createCountedAttempts } from '../counted-attempts.ts';
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
  const windowOf = (windowMs: number) => ({ customDuration: Math.max(1, Math.ceil(windowMs / 1000)) });

  return createCountedAttempts({
    async add(key, windowMs) {
      const { consumedPoints, msBeforeNext } = await limiter.penalty(key, 1, windowOf(windowMs));
      return { count: consumedPoints, remainingMs: msBeforeNext };
    },
    async takeBack(key, windowMs) {
      await limiter.reward(key, 1, windowOf(windowMs));
    },
  });
}
