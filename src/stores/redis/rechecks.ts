import { Cluster } from 'ioredis';
import type { Keys } from './keys.ts';
import type { RedisLink } from './link.ts';
import type { LiveMemory } from './live-memory.ts';

/** How many sessions one command looks at. */
const batch = 500;
/** Least time between two rounds, ms. */
const leastIntervalMs = 250;

/**
 * Looks anew, many at a time, at the remembered sessions that are in use, before their age makes each request look for
 * itself. Gives the timer to clear; null when nothing is remembered.
 */
export function startRechecks(
  options: { readonly link: RedisLink; readonly keys: Keys; readonly livenessAgeMs: number },
  memory: LiveMemory,
): NodeJS.Timeout | null {
  const { link, keys, livenessAgeMs } = options;
  if (livenessAgeMs === 0) return null;
  const intervalMs = Math.max(leastIntervalMs, livenessAgeMs / 2);

  async function recheck(ids: readonly string[]): Promise<void> {
    const sentAt = performance.now();
    const alive = await link.read((client) => client.exists(...ids.map(keys.session)));
    if (alive === ids.length) memory.confirm(ids, sentAt);
    else memory.doubt(ids);
  }

  async function round(): Promise<void> {
    if (link.isDown) return;
    const ids = memory.soonTooOld(performance.now(), intervalMs + leastIntervalMs);
    // Sessions of a Cluster are in as many slots, and a command keeps to one.
    const size = link.client instanceof Cluster ? 1 : batch;
    const batches: Promise<void>[] = [];
    for (let start = 0; start < ids.length; start += size)
      batches.push(recheck(ids.slice(start, start + size)));
    // What could not be looked at stays until its age ends it.
    await Promise.allSettled(batches);
  }

  const timer = setInterval(() => void round(), intervalMs);
  timer.unref();
  return timer;
}
