import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import { onTicks } from '../ticks.ts';

const pollIntervalMs = 5_000;
/** Maximum share of one CPU that counts as idle; timers and probes take less. */
const mostIdleShare = 0.1;
/** Number of idle intervals in a row after which garbage is collected. */
const idlePolls = 2;

/**
 * Collects garbage whenever the process has become idle, after its start and after load: V8 by itself keeps the memory. For a
 * while that is a quarter of what a gateway holds after its start, and nearly half after load.
 */
export function collectGarbageWhenIdle(): void {
  let before = process.cpuUsage();
  const watch = watchIdleness(collectGarbage);
  onTicks(pollIntervalMs, () => {
    const { user, system } = process.cpuUsage(before);
    before = process.cpuUsage();
    watch((user + system) / 1_000 / pollIntervalMs);
  });
}

/**
 * Makes a function that takes the process's share of one CPU in each interval, and calls `onIdle` once for each time the process
 * becomes idle.
 */
export function watchIdleness(onIdle: () => void): (share: number) => void {
  let idleFor = 0;
  return (share) => {
    if (share > mostIdleShare) idleFor = 0;
    else if (++idleFor === idlePolls) onIdle();
  };
}

/** Collects garbage as V8 does when memory runs out, which alone also returns what the heap has grown by. Takes 50 ms. */
function collectGarbage(): void {
  setFlagsFromString('--expose-gc');
  const gc = runInNewContext('gc') as typeof globalThis.gc;
  gc?.({ type: 'major', execution: 'sync', flavor: 'last-resort' });
}
