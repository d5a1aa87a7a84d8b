import { type BodyRow, bodyBytes, type Direction } from './bodies.ts';
import { ratioBetween, type Verdict } from './bounds.ts';
import { reference } from './peers/all.ts';
import type { Row } from './rows.ts';

/** A run, as it is reported. */
export interface Report {
  readonly date: Date;
  readonly machine: string;
  /** How processes were pinned, in words. */
  readonly pinning: string;
  /** Name and version. */
  readonly generator: string;
  readonly rounds: number;
  readonly seconds: number;
  readonly connections: number;
  readonly rows: readonly Row[];
  readonly bodies: readonly BodyRow[];
  readonly verdicts: readonly Verdict[];
  /** Peers that were to run and are not installed here. */
  readonly missing: readonly string[];
}

const headings = [
  ...['row', 'requests/s', 'p50 ms', 'p99 ms', 'CPU µs/request', '(lowest-highest)', 'peak RSS MiB'],
  ...['requests/s ÷ ref.', 'CPU ÷ ref.'],
];

/** The results table, its columns aligned, as Markdown and for the terminal. */
export function renderTable(rows: readonly Row[]): string {
  const base = rows.find((row) => row.name === reference);
  const cells = rows.map((row) => [
    row.name,
    row.requestsPerSecond.toFixed(0),
    row.p50Ms.toFixed(2),
    row.p99Ms.toFixed(2),
    row.cpu.median.toFixed(1),
    `${row.cpu.lowest.toFixed(1)}-${row.cpu.highest.toFixed(1)}`,
    row.peakMemoryMiB.toFixed(0),
    formatRatio(base && row.requestsPerSecond / base.requestsPerSecond),
    formatRatio(ratioBetween(rows, row.name, reference)),
  ]);
  return align(headings, cells);
}

const bodyHeadings = ['row', 'CPU s/GiB', '(lowest-highest)', 'MiB/s', 'CPU ÷ ref.'];

/** The table of large bodies, likewise. */
export function renderBodyTable(rows: readonly BodyRow[]): string {
  const cells = rows.map(({ name, direction, cpu, mebibytesPerSecond }) => [
    `${name}, ${direction}`,
    cpu.median.toFixed(2),
    `${cpu.lowest.toFixed(2)}-${cpu.highest.toFixed(2)}`,
    mebibytesPerSecond.toFixed(0),
    formatRatio(ratioBetween(inDirection(rows, direction), name, reference)),
  ]);
  return align(bodyHeadings, cells);
}

function inDirection(rows: readonly BodyRow[], direction: Direction): BodyRow[] {
  return rows.filter((row) => row.direction === direction);
}

function align(headings: readonly string[], cells: readonly (readonly string[])[]): string {
  const widths = headings.map((heading, column) =>
    Math.max(heading.length, ...cells.map((line) => line[column]?.length ?? 0)),
  );
  const line = (values: readonly string[]) =>
    `| ${values.map((value, column) => (column === 0 ? value.padEnd(widths[column] ?? 0) : value.padStart(widths[column] ?? 0))).join(' | ')} |`;
  const rule = widths.map((width, column) =>
    column === 0 ? '-'.repeat(width) : `${'-'.repeat(width - 1)}:`,
  );
  return [line(headings), line(rule), ...cells.map(line)].join('\n');
}

/** One line for each bound: held or not. */
export function renderVerdicts(verdicts: readonly Verdict[]): string {
  return verdicts
    .map(({ peer, of, against, ratio, cpuRatioAtMost, passed }) => {
      const found = ratio === undefined ? 'not measured' : formatRatio(ratio);
      return `- ${peer}, ${of}: CPU ÷ ${against} at most ${formatRatio(cpuRatioAtMost)}: ${found}, ${passed ? 'held' : 'NOT HELD'}`;
    })
    .join('\n');
}

/** The text of RESULTS.md. */
export function renderResults(report: Report): string {
  const { rows, bodies, verdicts, missing } = report;
  return `# Benchmark results

The last run of \`npm run bench\`, which writes this file. Each row is one proxy in front of the same upstream, which
answers 1 KiB of JSON; figures are medians of ${report.rounds} interleaved rounds of ${report.seconds} s on warmed-up processes.
CPU is user and system time of every process and thread of the row, read around the very window whose requests are
counted; peak RSS is the highest since start. Ratios are to ${reference}; those of CPU are the median of each round's own
ratio, whose windows lie within seconds of each other.

- Date: ${report.date.toISOString()}
- Machine: ${report.machine}
- CPUs: ${report.pinning}
- Node ${process.versions.node} for every row made of it
- Load: ${report.generator}, ${report.connections} connections, 1,000 distinct credentials in turn
- Not installed here: ${missing.length === 0 ? 'nothing' : missing.join(', ')}

${renderTable(rows)}

What each row does for a request (only Postern writes an access log):

${rows.map((row) => `- ${row.name} (${row.version}): ${row.description}`).join('\n')}

Large bodies: ${bodyBytes / 2 ** 20} MiB each, four at a time, with a length, over kept connections.

${renderBodyTable(bodies)}

Bounds, which \`npm run bench\` enforces:

${renderVerdicts(verdicts)}
`;
}

function formatRatio(ratio: number | undefined): string {
  return ratio === undefined ? '—' : ratio.toFixed(2);
}
