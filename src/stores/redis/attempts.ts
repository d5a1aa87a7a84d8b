import { Refusal } from '../../errors.ts';
import type { AttemptCounter, AttemptLimit, Attempts } from '../attempts.ts';
import type { RedisLink } from './link.ts';
import { scripts } from './scripts.ts';

/**
 * Counts attempts in Redis, for all gateways together. While Redis is unavailable no attempt is allowed: calls reject
 * `store_unavailable`. Windows are rounded up to whole seconds.
 */
export function createRedisAttempts(link: RedisLink): Attempts {
  /** Adds to a counter, which restarts once its window has ended; resolves to the count and the window's remaining time, ms. */
  async function add({ key, group }: AttemptLimit, attempts: 1 | -1, windowMs: number) {
    const windowSeconds = Math.max(1, Math.ceil(windowMs / 1000));
    const args = [attempts, windowSeconds];
    const reply = await (group === undefined
      ? link.run(scripts.countAttempt, link.keys.attempts(key), args)
      : link.run(scripts.countGroupedAttempt, link.keys.attempts(group), [...args, key]));
    const [, , count, remainingMs] = reply;
    if (!isCount(count) || !isCount(remainingMs))
      throw new Refusal('store_unavailable', { cause: 'unexpected reply to the counter script' });
    return { count, remainingMs };
  }

  async function giveBack(limits: readonly AttemptLimit[], windowMs: number): Promise<void> {
    for (const limit of limits) await add(limit, -1, windowMs);
  }

  return {
    // One counter after the other: each may be on another server of a Cluster.
    async count(limits, windowMs) {
      for (const [index, limit] of limits.entries()) {
        const { count, remainingMs } = await add(limit, 1, windowMs);
        if (count <= limit.points) continue;
        await giveBack(limits.slice(0, index + 1), windowMs);
        return { allowed: false, retryAfterMs: remainingMs };
      }
      return { allowed: true };
    },
    giveBack,
    findAttempts(group) {
      const parse = (fields: Readonly<Record<string, string>>) => liveCounters(fields, link.clock.now());
      return link.read((client) => client.hgetall(link.keys.attempts(group)), parse);
    },
    async liftAttempts(group) {
      await link.read((client) => client.del(link.keys.attempts(group)));
    },
  };
}

/** The counters in a group's hash whose windows have not ended at `now`. Throws TypeError on any other content. */
function liveCounters(fields: Readonly<Record<string, string>>, now: number): readonly AttemptCounter[] {
  return Object.entries(fields)
    .map(([key, text]) => {
      const [, count, ends] = /^(\d{1,15}) (\d{1,16})$/.exec(text) ?? [];
      if (count === undefined) throw new TypeError('unexpected counter of attempts');
      return { key, count: Number(count), remainingMs: Number(ends) - now };
    })
    .filter(({ remainingMs }) => remainingMs > 0);
}

function isCount(value: unknown): value is number {
  return Number.isSafeInteger(value);
}
