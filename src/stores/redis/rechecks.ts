import { Cluster } from 'ioredis';
import type { Keys } from './keys.ts';
import type { RedisLink } from './link.ts';
import type { LivenessCache } from './liveness-cache.ts';

/** How many sessions one command checks. */
const batchSize = 500;
/** Minimum time between two rounds, ms. */
const minIntervalMs = 250;

/**
 * Checks the cached sessions that are in use again, many at a time, before they get too old and each request has to query
 * the store. Gives the timer to clear; null when nothing is cached.
 */
export function startRechecks(
  options: { readonly link: RedisLink; readonly keys: Keys; readonly livenessAgeMs: number },
  cache: LivenessCache,
): NodeJS.Timeout | null {
  const { link, keys, livenessAgeMs } = options;
  if (livenessAgeMs === 0) return null;
  const intervalMs = Math.max(minIntervalMs, livenessAgeMs / 2);

  async function recheck(ids: readonly string[]): Promise<void> {
    const sentAt = performance.now();
    const aliveCount = await link.read((client) => client.exists(...ids.map(keys.session)));
    if (aliveCount === ids.length) cache.confirm(ids, sentAt);
    else cache.markDoubtful(ids);
  }

  async function round(): Promise<void> {
    if (link.isDown) return;
    const ids = cache.dueForRecheck(performance.now(), intervalMs + minIntervalMs);
    // A command is bound to one slot of a Cluster, and each session may be in another.
    const size = link.client instanceof Cluster ? 1 : batchSize;
    const batches: Promise<void>[] = [];
    for (let start = 0; start < ids.length; start += size)
      batches.push(recheck(ids.slice(start, start + size)));
    // A session that could not be checked stays until it is too old.
    await Promise.allSettled(batches);
  }

  const timer = setInterval(() => void round(), intervalMs);
  timer.unref();
  return timer;
}
