import { reference } from './peers/all.ts';
import type { Row } from './rows.ts';

/** What a row must not exceed. */
export interface Bound {
  readonly peer: string;
  /** CPU time a request, as a share of the reference's in the same rounds. */
  readonly cpuRatioAtMost: number;
}

/** Authentication, scopes, identity and an access line must cost well under what bare forwarding costs elsewhere. */
export const bounds: readonly Bound[] = [
  { peer: 'postern-key', cpuRatioAtMost: 0.6 },
  { peer: 'postern-bearer', cpuRatioAtMost: 0.6 },
];

/** How a bound came out; `ratio` is undefined when a row it needs was not measured, which is no pass. */
export interface Verdict extends Bound {
  readonly ratio: number | undefined;
  readonly passed: boolean;
}

/** Holds the rows against every bound. */
export function judge(rows: readonly Row[]): Verdict[] {
  return bounds.map((bound) => {
    const ratio = cpuRatio(rows, bound.peer);
    return { ...bound, ratio, passed: ratio !== undefined && ratio <= bound.cpuRatioAtMost };
  });
}

/** The CPU time of a row as a share of the reference's; undefined when either was not measured. */
export function cpuRatio(rows: readonly Row[], peer: string): number | undefined {
  const row = rows.find((candidate) => candidate.name === peer);
  const base = rows.find((candidate) => candidate.name === reference);
  return row && base && row.cpu.median / base.cpu.median;
}
