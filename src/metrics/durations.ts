import type { Sample } from './registry.ts';

/** Bounds in seconds, from 50 µs to 2.5 s, for work that waits for no upstream. */
export const shortBounds = [
  0.00005, 0.0001, 0.00025, 0.0005, 0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.5, 2.5,
];

/** Counts of durations by upper bound, as plain numbers: samples of a histogram are made only when scraped. */
export class Durations {
  readonly #boundsSeconds: readonly number[];
  /** A count per bound, and one for longer durations. */
  readonly #counts: Float64Array;
  #sumSeconds = 0;

  constructor(boundsSeconds: readonly number[]) {
    this.#boundsSeconds = boundsSeconds;
    this.#counts = new Float64Array(boundsSeconds.length + 1);
  }

  record(durationMs: number): void {
    const seconds = durationMs / 1000;
    const bounds = this.#boundsSeconds;
    let at = 0;
    while (at < bounds.length && seconds > bounds[at]!) at++;
    this.#counts[at]!++;
    this.#sumSeconds += seconds;
  }

  /** Samples of a histogram of that name. */
  samples(name: string, labels: Readonly<Record<string, string>>): Sample[] {
    let below = 0;
    const buckets = [...this.#counts].map((count, index): Sample => {
      below += count;
      const le = this.#boundsSeconds[index] ?? '+Inf';
      return { metricName: `${name}_bucket`, labels: { ...labels, le }, value: below };
    });
    return [
      ...buckets,
      { metricName: `${name}_sum`, labels, value: this.#sumSeconds },
      { metricName: `${name}_count`, labels, value: below },
    ];
  }
}
