import type { Sample } from './measure.ts';

/** A row of the results: medians over the rounds. */
export interface Row {
  readonly name: string;
  readonly description: string;
  readonly version: string;
  readonly requestsPerSecond: number;
  readonly p50Ms: number;
  readonly p99Ms: number;
  /** Microseconds of CPU a request: the median, the lowest and the highest of the rounds. */
  readonly cpu: { readonly median: number; readonly lowest: number; readonly highest: number };
  readonly peakMemoryMiB: number;
}

/** Makes a row of a peer's samples, of which there is at least one. */
export function summarise(
  peer: Pick<Row, 'name' | 'description' | 'version' | 'peakMemoryMiB'>,
  samples: readonly Sample[],
): Row {
  const cpu = samples.map((sample) => sample.cpuMicrosecondsPerRequest);
  return {
    ...peer,
    requestsPerSecond: median(samples.map((sample) => sample.requestsPerSecond)),
    p50Ms: median(samples.map((sample) => sample.p50Ms)),
    p99Ms: median(samples.map((sample) => sample.p99Ms)),
    cpu: { median: median(cpu), lowest: Math.min(...cpu), highest: Math.max(...cpu) },
  };
}

/** The middle one, or the mean of the two in the middle. */
export function median(values: readonly number[]): number {
  const sorted = values.toSorted((a, b) => a - b);
  const middle = sorted.length >> 1;
  const upper = sorted[middle] ?? Number.NaN;
  return sorted.length % 2 === 1 ? upper : ((sorted[middle - 1] ?? upper) + upper) / 2;
}
