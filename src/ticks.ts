/** Interval of the ticks, ms. */
const tickMs = 500;

interface Job {
  /** Interval between runs, in ticks. */
  readonly period: number;
  /** Number of the tick of the next run. */
  due: number;
  readonly run: () => void;
}

/** All jobs of this process. They share one timer and are state of the process, as Node's timers are. */
const jobs = new Set<Job>();
/** True while the timer for the next tick is set. */
let isTicking = false;

/**
 * Calls `run` about every `intervalMs`, a multiple of 500; returns the function that stops these calls, which don't keep the
 * process alive. All jobs of a process run on the same ticks, so that they wake an idle process at most twice a second.
 */
export function onTicks(intervalMs: number, run: () => void): () => void {
  const period = intervalMs / tickMs;
  const tick = tickNow();
  const job = { period, due: tick + period, run };
  jobs.add(job);
  if (!isTicking) waitForNext(tick);
  return () => {
    jobs.delete(job);
  };
}

function onTick(): void {
  const tick = tickNow();
  isTicking = false;
  if (jobs.size > 0) waitForNext(tick);
  for (const job of jobs) {
    if (tick < job.due) continue;
    job.due = tick + job.period;
    job.run();
  }
}

function waitForNext(tick: number): void {
  isTicking = true;
  setTimeout(onTick, Math.round((tick + 1) * tickMs - performance.now())).unref();
}

/** Number of the tick nearest to now, because timers may fire up to a millisecond early. */
function tickNow(): number {
  return Math.round(performance.now() / tickMs);
}
