import type { Test } from 'tap';

/**
 * Asserts that less than `limitMs` has passed since `sinceMs`, by `performance.now()`; at full size only
 * (`POSTERN_TEST_LONG`). At default size the machine may be busy with anything, and what never ends meets the timeout of
 * the file.
 */
export function judgeElapsed(t: Test, sinceMs: number, limitMs: number): void {
  const elapsed = `${Math.round(performance.now() - sinceMs)} of ${limitMs} ms`;
  if (process.env.POSTERN_TEST_LONG === undefined) t.comment(elapsed);
  else t.ok(performance.now() - sinceMs < limitMs, elapsed);
}
