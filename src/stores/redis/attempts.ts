import { Refusal } from '../../errors.ts';
import type { AttemptLimit, Attempts } from '../attempts.ts';
import type { Keys } from './keys.ts';
import type { RedisLink } from './link.ts';
import { scripts } from './scripts.ts';

/** A counter after a change. */
interface Counter {
  readonly count: number;
  /** How long its window still lasts, ms. */
  readonly remainingMs: number;
}

/**
 * Counts attempts in Redis, for all gateways together. While Redis is unavailable no attempt is allowed: it rejects
 * `store_unavailable`. Windows are rounded up to whole seconds.
 */
export function createRedisAttempts(link: RedisLink, keys: Keys): Attempts {
  /** Adds to the counter of a key; the counter starts again when its window is over. */
  async function add(key: string, attempts: 1 | -1, windowMs: number): Promise<Counter> {
    const windowSeconds = Math.max(1, Math.ceil(windowMs / 1000));
    const reply = await link.run(scripts.countAttempt, keys.attempts(key), [attempts, windowSeconds]);
    const [, , count, remainingMs] = reply;
    if (!isCount(count) || !isCount(remainingMs))
      throw new Refusal('store_unavailable', { cause: 'unexpected reply to the counter script' });
    return { count, remainingMs };
  }

  async function giveBack(limits: readonly AttemptLimit[], windowMs: number): Promise<void> {
    for (const { key } of limits) await add(key, -1, windowMs);
  }

  return {
    // One counter after the other: each may be on another server of a Cluster.
    async count(limits, windowMs) {
      for (const [index, { key, points }] of limits.entries()) {
        const { count, remainingMs } = await add(key, 1, windowMs);
        if (count <= points) continue;
        await giveBack(limits.slice(0, index + 1), windowMs);
        return { allowed: false, retryAfterMs: remainingMs };
      }
      return { allowed: true };
    },
    giveBack,
  };
}

function isCount(value: unknown): value is number {
  return Number.isSafeInteger(value);
}
