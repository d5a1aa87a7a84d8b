/** Interval of the ticks, ms. */
const tickMs = 500;

/**
 * Calls `run` about every `intervalMs`, a multiple of 500, and returns the function that stops it; it doesn't keep the process
 * alive. All such calls of a process fall on the same ticks, so that they wake an idle process twice a second and no more.
 */
export function onTicks(intervalMs: number, run: () => void): () => void {
  const period = intervalMs / tickMs;
  let tick = tickNow();
  let due = tick + period;
  let timer = untilNext();
  function untilNext(): NodeJS.Timeout {
    return setTimeout(onTick, Math.round((tick + 1) * tickMs - performance.now())).unref();
  }
  function onTick(): void {
    tick = tickNow();
    timer = untilNext();
    if (tick < due) return;
    due = tick + period;
    run();
  }
  return () => clearTimeout(timer);
}

/** Number of the tick nearest to now: timers fire up to a millisecond early. */
function tickNow(): number {
  return Math.round(performance.now() / tickMs);
}
