import type { Sample } from './measure.ts';

/** A row of the results: medians over the rounds. */
export interface Row {
  readonly name: string;
  readonly requestsPerSecond: number;
  readonly p50Ms: number;
  readonly p99Ms: number;
  /** Microseconds a request. */
  readonly cpu: CpuCost;
  readonly peakMemoryMiB: number;
}

/** CPU time over the rounds. */
export interface CpuCost {
  readonly median: number;
  readonly lowest: number;
  readonly highest: number;
  /** In the order of the rounds. */
  readonly rounds: readonly number[];
}

/** Makes a row of a peer's samples, of which there is at least one. */
export function summarise(peer: Pick<Row, 'name' | 'peakMemoryMiB'>, samples: readonly Sample[]): Row {
  return {
    ...peer,
    requestsPerSecond: median(samples.map((sample) => sample.requestsPerSecond)),
    p50Ms: median(samples.map((sample) => sample.p50Ms)),
    p99Ms: median(samples.map((sample) => sample.p99Ms)),
    cpu: cpuCost(samples.map((sample) => sample.cpuMicrosecondsPerRequest)),
  };
}

/** The CPU cost that was measured in each round. */
export function cpuCost(rounds: readonly number[]): CpuCost {
  return { median: median(rounds), lowest: Math.min(...rounds), highest: Math.max(...rounds), rounds };
}

/**
 * The CPU time of a row as a share of another's: the median of the rounds' own shares. The rows of a round were measured
 * within seconds of each other, so a slow minute of a shared machine falls on both sides of its share.
 */
export function cpuRatio(row: CpuCost, base: CpuCost): number {
  return median(row.rounds.map((cost, round) => cost / (base.rounds[round] ?? Number.NaN)));
}

/** The microseconds by which a row's CPU time exceeds another's: the median of the rounds' own, as {@link cpuRatio}. */
export function cpuAdded(row: CpuCost, base: CpuCost): number {
  return median(row.rounds.map((cost, round) => cost - (base.rounds[round] ?? Number.NaN)));
}

/** The middle one, or the mean of the two in the middle. */
export function median(values: readonly number[]): number {
  const sorted = values.toSorted((a, b) => a - b);
  const middle = sorted.length >> 1;
  const upper = sorted[middle] ?? Number.NaN;
  return sorted.length % 2 === 1 ? upper : ((sorted[middle - 1] ?? upper) + upper) / 2;
}
