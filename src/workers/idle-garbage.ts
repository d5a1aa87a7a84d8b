import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';

const pollIntervalMs = 5_000;
/** Maximum share of one CPU that counts as idle; timers and probes take less. */
const mostIdleShare = 0.1;

/**
 * Collects garbage once, as soon as the process has had little to do for a while. A fifth of an idle gateway's memory is garbage
 * from its start, which V8 collects only under load. `--max-semi-space-size` saves less memory, and has to be on every command
 * line (it is in the image, for its effect under load); the inspector's `HeapProfiler.collectGarbage` left a process hanging at
 * its exit.
 */
export function collectGarbageOnceIdle(): void {
  let before = process.cpuUsage();
  const timer = setInterval(() => {
    const { user, system } = process.cpuUsage(before);
    before = process.cpuUsage();
    if ((user + system) / 1_000 > mostIdleShare * pollIntervalMs) return;
    clearInterval(timer);
    setFlagsFromString('--expose-gc');
    runInNewContext('gc')();
  }, pollIntervalMs).unref();
}
