import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';

const pollIntervalMs = 5_000;
/** Share of one CPU that counts as idle; timers and probes take less. */
const mostIdleShare = 0.1;

/**
 * Collects garbage once, as soon as the process has had little to do for a while. A fifth of what an idle gateway would
 * hold is what its start has left behind, and V8 would not collect it by itself; under load it does, and better.
 * `--max-semi-space-size` saves less of it, and has to be on every command line (in the image it is, for what it saves under
 * load); the inspector's `HeapProfiler.collectGarbage` left a process hanging at its exit.
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
