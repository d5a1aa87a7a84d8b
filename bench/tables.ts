import type { BodyRow, Direction } from './bodies.ts';
import { ratioBetween } from './bounds.ts';
import { type FootprintRow, idleConnections } from './footprint.ts';
import type { HalfLoadRow } from './half-load.ts';
import { isSustained, type OfferedRow, offeredRates } from './offered.ts';
import { fastest, reference } from './peers/all.ts';
import { keyService } from './peers/deciders.ts';
import type { Row } from './rows.ts';

const none = '—';

/** The table of saturation, its columns aligned, as Markdown and for the terminal. */
export function renderSaturation(rows: readonly Row[], missing: readonly string[]): string {
  const base = rows.find((row) => row.name === reference);
  const cells = rows.map((row) => [
    row.name,
    row.requestsPerSecond.toFixed(0),
    row.p50Ms.toFixed(2),
    row.p99Ms.toFixed(2),
    row.cpu.median.toFixed(1),
    formatRange(row.cpu, 1),
    row.peakMemoryMiB.toFixed(0),
    formatRatio(base && row.requestsPerSecond / base.requestsPerSecond),
    formatRatio(ratioBetween(rows, row.name, fastest)),
    formatRatio(ratioBetween(rows, row.name, reference)),
  ]);
  const headings = [
    ...['row', 'requests/s', 'p50 ms', 'p99 ms', 'CPU µs/request', '(lowest-highest)', 'peak RSS MiB'],
    ...['requests/s ÷ ref.', 'CPU ÷ nginx', 'CPU ÷ ref.'],
  ];
  return align(headings, cells, missing);
}

/** The table of equal offered load. */
export function renderOffered(rows: readonly OfferedRow[], missing: readonly string[]): string {
  const headings = offeredRates.flatMap((rate) => [
    `CPU µs at ${rate}/s`,
    `÷ nginx`,
    `p50 ms at ${rate}/s`,
    'p99 ms',
  ]);
  const cells = [...new Set(rows.map(({ name }) => name))].map((name) => [
    name,
    ...offeredRates.flatMap((rate) => {
      const atRate = rows.filter(({ perSecond }) => perSecond === rate);
      const row = atRate.find((candidate) => candidate.name === name);
      if (row === undefined) return [none, none, none, none];
      if (!isSustained(row)) return [`takes ${(row.inTime * rate).toFixed(0)}/s`, none, none, none];
      const ratio = formatRatio(ratioBetween(atRate.filter(isSustained), name, fastest));
      return [row.cpu.median.toFixed(1), ratio, row.p50Ms.toFixed(2), row.p99Ms.toFixed(2)];
    }),
  ]);
  return align(['row', ...headings], cells, missing);
}

/** The table of added latency. */
export function renderHalfLoad(rows: readonly HalfLoadRow[], missing: readonly string[]): string {
  const headings = [
    'row',
    'requests/s',
    'p50 added ms',
    'p99 added ms',
    'nginx p50 added ms',
    'nginx p99 added ms',
  ];
  const cells = rows.map(({ name, perSecond, added, fastest: other }) => [
    name,
    perSecond.toFixed(0),
    added.p50Ms.toFixed(2),
    added.p99Ms.toFixed(2),
    other?.p50Ms.toFixed(2) ?? none,
    other?.p99Ms.toFixed(2) ?? none,
  ]);
  return align(headings, cells, missing);
}

/** The table of starts and idle connections. */
export function renderFootprint(rows: readonly FootprintRow[], missing: readonly string[]): string {
  const headings = [
    ...['row', 'start ms', 'MiB', `MiB with ${idleConnections} connections`, 'KiB a connection', 'held'],
  ];
  const cells = rows.map(({ name, startMs, memory }) => {
    if (memory === undefined) return [name, startMs.toFixed(0), none, none, none, none];
    const { withoutConnectionsMiB, withConnectionsMiB, held } = memory;
    return [
      name,
      startMs.toFixed(0),
      withoutConnectionsMiB.toFixed(0),
      withConnectionsMiB.toFixed(0),
      (((withConnectionsMiB - withoutConnectionsMiB) * 1024) / held).toFixed(1),
      held.toFixed(0),
    ];
  });
  return align(headings, cells, missing);
}

/** The table of decisions. */
export function renderDecisions(rows: readonly Row[]): string {
  const cells = rows.map(({ name, requestsPerSecond, cpu }) => [
    name,
    requestsPerSecond.toFixed(0),
    cpu.median.toFixed(1),
    formatRange(cpu, 1),
    formatRatio(ratioBetween(rows, name, keyService.name)),
  ]);
  const headings = ['row', 'decisions/s', 'CPU µs/decision', '(lowest-highest)', `CPU ÷ ${keyService.name}`];
  return align(headings, cells, []);
}

/** The table of large bodies. */
export function renderBodies(rows: readonly BodyRow[]): string {
  const cells = rows.map(({ name, direction, cpu, mebibytesPerSecond }) => [
    `${name}, ${direction}`,
    cpu.median.toFixed(2),
    formatRange(cpu, 2),
    mebibytesPerSecond.toFixed(0),
    formatRatio(ratioBetween(inDirection(rows, direction), name, reference)),
  ]);
  return align(['row', 'CPU s/GiB', '(lowest-highest)', 'MiB/s', 'CPU ÷ ref.'], cells, []);
}

function inDirection(rows: readonly BodyRow[], direction: Direction): BodyRow[] {
  return rows.filter((row) => row.direction === direction);
}

/** Rows of cells as a table; a peer that is missing is a row, too. */
export function align(
  headings: readonly string[],
  measured: readonly (readonly string[])[],
  missing: readonly string[],
): string {
  const empty = headings.slice(2).map(() => none);
  const cells = [...measured, ...missing.map((name) => [name, 'not installed', ...empty])];
  const widths = headings.map((heading, column) =>
    Math.max(heading.length, ...cells.map((line) => line[column]?.length ?? 0)),
  );
  const pad = (value: string, column: number) =>
    column === 0 ? value.padEnd(widths[column] ?? 0) : value.padStart(widths[column] ?? 0);
  const line = (values: readonly string[]) => `| ${values.map(pad).join(' | ')} |`;
  const rule = widths.map((width, column) =>
    column === 0 ? '-'.repeat(width) : `${'-'.repeat(width - 1)}:`,
  );
  return [line(headings), line(rule), ...cells.map(line)].join('\n');
}

function formatRange({ lowest, highest }: Row['cpu'], digits: number): string {
  return `${lowest.toFixed(digits)}-${highest.toFixed(digits)}`;
}

/** Two digits, or a dash. */
export function formatRatio(ratio: number | undefined): string {
  return ratio === undefined ? none : ratio.toFixed(2);
}
