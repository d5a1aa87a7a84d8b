import type { Test } from 'tap';
import { leeway } from '../gateway/replicas.ts';

/** The result of a piece of work, and when it ended. */
export interface Timed<T> {
  readonly came: T;
  readonly tookMs: number;
}

/** Awaits work that has just begun. */
export async function timed<T>(work: Promise<T>): Promise<Timed<T>> {
  const sinceMs = performance.now();
  const came = await work;
  return { came, tookMs: performance.now() - sinceMs };
}

/** Judges that something took less than that, with {@link ../gateway/replicas.ts leeway}. */
export function judgeWithin(t: Test, what: string, tookMs: number, limitMs: number): void {
  t.ok(tookMs < limitMs * leeway, `${what} after ${Math.round(tookMs)} of ${limitMs} ms`);
}
