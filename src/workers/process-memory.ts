import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import { onTicks } from '../ticks.ts';

const pollIntervalMs = 5_000;
/** Maximum share of one CPU that counts as idle: with Redis and PostgreSQL, an idle process takes 0.008. */
const mostIdleShare = 0.02;
/** Numbers of idle intervals in a row after which garbage is collected: after the start, and after load, which may come back. */
const idlePolls = { first: 2, later: 12 };

/**
 * Keeps the memory of a serving process low, at no cost to requests. Turns off Maglev, V8's compiler for code that is warm:
 * TurboFan compiles hot code with or without it, and the memory in which Maglev has worked, in several threads, is freed but
 * kept by the allocator. Collects garbage once the process is idle: V8 alone would keep a quarter of its memory after a
 * start, half after load.
 */
export function keepMemoryLow(): void {
  setFlagsFromString('--no-maglev');
  let before = process.cpuUsage();
  const watch = watchIdleness(collectGarbage);
  onTicks(pollIntervalMs, () => {
    const { user, system } = process.cpuUsage(before);
    before = process.cpuUsage();
    watch((user + system) / 1_000 / pollIntervalMs);
  });
}

/** Returns a function that takes the share of one CPU used in each interval; calls `onIdle` each time the process gets idle. */
export function watchIdleness(onIdle: () => void): (share: number) => void {
  let idleFor = 0;
  let needed = idlePolls.first;
  return (share) => {
    if (share <= mostIdleShare) {
      if (++idleFor === needed) onIdle();
      return;
    }
    if (idleFor >= needed) needed = idlePolls.later;
    idleFor = 0;
  };
}

/** Collects garbage as V8 does when memory runs out; only such a collection also shrinks the heap. Takes 50 ms. */
function collectGarbage(): void {
  setFlagsFromString('--expose-gc');
  const gc = runInNewContext('gc') as typeof globalThis.gc;
  gc?.({ type: 'major', execution: 'sync', flavor: 'last-resort' });
}
