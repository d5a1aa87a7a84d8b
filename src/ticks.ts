/** Interval of the ticks, ms. */
const tickMs = 500;

interface Job {
  /** In ticks. */
  readonly period: number;
  /** Number of the tick at which it is run next. */
  due: number;
  readonly run: () => void;
}

/** The jobs of this process. As Node's timers they are state of the process, so that one timer is enough for all. */
const jobs = new Set<Job>();
/** True while a timer runs: as long as there are jobs. */
let isTicking = false;

/**
 * Calls `run` about every `intervalMs`, a multiple of 500, and returns the function that stops it; it doesn't keep the process
 * alive. All such calls of a process fall on the same ticks, so that they wake an idle process twice a second and no more.
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

/** Number of the tick nearest to now: timers fire up to a millisecond early. */
function tickNow(): number {
  return Math.round(performance.now() / tickMs);
}
