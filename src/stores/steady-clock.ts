/**
 * A clock that never runs backwards: `wall`, epoch ms, or, where that has been set back, a clock that goes on from there at
 * half the pace until the time has caught up. What is measured meanwhile takes at most twice as long, and not as long as
 * the clock was set back by. `elapsed` counts milliseconds, whatever is done to the time.
 */
export function createSteadyClock(
  wall: () => number,
  elapsed: () => number = () => performance.now(),
): () => number {
  let last = Number.NEGATIVE_INFINITY;
  let setBackAt: { readonly time: number; readonly elapsed: number } | null = null;
  return () => {
    const time = wall();
    if (time >= last) {
      setBackAt = null;
      last = time;
      return time;
    }
    setBackAt ??= { time: last, elapsed: elapsed() };
    last = Math.max(last, Math.floor(setBackAt.time + (elapsed() - setBackAt.elapsed) / 2));
    return last;
  };
}
