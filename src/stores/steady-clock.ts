/**
 * A clock that never runs backwards: `wall`, epoch ms, or, after that has been set back, a clock that continues at
 * half the pace until the wall clock has caught up. A duration measured in the meantime is at most doubled, instead of
 * growing by as much as the clock was set back. `elapsed` counts milliseconds, unaffected by changes of the time.
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
