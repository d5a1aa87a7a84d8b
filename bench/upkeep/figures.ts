import type { SideBySide } from './instances.ts';
import type { Upkeep, UpkeepRow } from './measure.ts';

/** The row of all instances side by side, in bounds. */
export const sideBySideName = 'instances side by side';

const figuresOfRows = {
  'start CPU s': ({ startCpuMs }: UpkeepRow) => startCpuMs / 1_000,
  'private MiB started': ({ afterStart }: UpkeepRow) => afterStart.privateMiB,
  'private MiB idle': ({ afterIdle }: UpkeepRow) => afterIdle.privateMiB,
  'private MiB after load': ({ afterLoad }: UpkeepRow) => afterLoad?.privateMiB,
  'idle CPU ms/s': ({ idle }: UpkeepRow) => idle?.cpuMsPerSecond,
  'wake-ups/s': ({ idle }: UpkeepRow) => idle?.wakeUpsPerSecond,
} as const;

const figuresOfAll = {
  'MiB in all': ({ proportionalMiB }: SideBySide) => proportionalMiB,
  'CPUs in all': ({ cpus }: SideBySide) => cpus,
} as const;

/** What bounds say of upkeep, with the unit. */
export type UpkeepSubject = keyof typeof figuresOfRows | keyof typeof figuresOfAll;

/** True if a bound is one of upkeep. */
export function isUpkeepSubject(of: string): of is UpkeepSubject {
  return of in figuresOfRows || of in figuresOfAll;
}

/** The figure of a row, less that of the row it is compared with, if any; undefined if either was not measured. */
export function upkeepFigure(
  { rows, sideBySide }: Pick<Upkeep, 'rows' | 'sideBySide'>,
  of: UpkeepSubject,
  peer: string,
  against: string,
): number | undefined {
  if (of === 'MiB in all' || of === 'CPUs in all') return sideBySide && figuresOfAll[of](sideBySide);
  const figure = (name: string) => {
    const row = rows.find((candidate) => candidate.name === name);
    return row && figuresOfRows[of](row);
  };
  const own = figure(peer);
  if (own === undefined || against === '') return own;
  const other = figure(against);
  return other && own - other;
}
