import { escapeControls } from '../log/escape-controls.ts';
import type { Call } from './command.ts';
import { printResult } from './terminal.ts';

/** A column of a table. */
export interface Column {
  readonly title: string;
  /** True if long cells continue on further lines. */
  readonly wraps?: boolean;
  /** Rank among the columns that are left out, 1 first, while the table is too wide; absent: the column is never left out. */
  readonly drops?: number;
}

type Row = readonly string[];
/** A column with its cells and widths, in columns of the terminal. */
interface Measured {
  readonly column: Column;
  readonly index: number;
  /** Width of the widest cell. */
  readonly natural: number;
  readonly least: number;
}

const gap = '  ';
/** Width that a column which wraps keeps, unless its cells are shorter. */
const leastWrapped = 10;

/** Prints a list: as JSON with `--json`, else as a table that fits the terminal, or as `none` if it has no rows. */
export async function printTable(
  call: Call,
  value: unknown,
  {
    columns,
    rows,
    none,
  }: { readonly columns: readonly Column[]; readonly rows: readonly Row[]; readonly none: string },
): Promise<void> {
  const { stdout } = call.terminal;
  const width = stdout.isTTY ? stdout.columns || 80 : Number.POSITIVE_INFINITY;
  await printResult(call, value, rows.length === 0 ? none : table(columns, rows, width));
}

/**
 * Rows in columns as wide as their widest cell, or narrower to fit a width: long cells are wrapped, then columns left out, which
 * a last line names. Characters that could control a terminal are escaped.
 */
export function table(
  columns: readonly Column[],
  rows: readonly Row[],
  width = Number.POSITIVE_INFINITY,
): string {
  const cells = rows.map((row) => row.map(escapeControls));
  const measured = columns.map((column, index) => measure(column, index, cells));
  const shown = fitting(measured, width);
  const widths = widthsOf(shown, width);
  const lines = [columns.map(({ title }) => title), ...cells].flatMap((row) =>
    linesOf(
      shown.map(({ index }) => row[index] ?? ''),
      widths,
    ),
  );
  const left = measured.filter((each) => !shown.includes(each)).map(({ column }) => column.title);
  if (left.length > 0) lines.push('', ...wrap(`Left out here: ${left.join(', ')} (see --json).`, width));
  return lines.join('\n');
}

function measure(column: Column, index: number, rows: readonly Row[]): Measured {
  const natural = Math.max(column.title.length, ...rows.map((row) => row[index]?.length ?? 0));
  const least = column.wraps ? Math.min(natural, Math.max(column.title.length, leastWrapped)) : natural;
  return { column, index, natural, least };
}

/** The columns that fit a width at their least. */
function fitting(measured: readonly Measured[], width: number): readonly Measured[] {
  const shown = [...measured];
  const rank = ({ column }: Measured) => column.drops ?? Number.POSITIVE_INFINITY;
  while (totalOf(shown) > width) {
    const first = shown.toSorted((one, other) => rank(one) - rank(other))[0];
    if (first === undefined || first.column.drops === undefined) return shown;
    shown.splice(shown.indexOf(first), 1);
  }
  return shown;
}

function totalOf(columns: readonly Measured[]): number {
  return columns.reduce((sum, { least }) => sum + least, gap.length * (columns.length - 1));
}

/** Shares the room beyond the least widths among the columns that can use it. */
function widthsOf(columns: readonly Measured[], width: number): readonly number[] {
  let room = Math.max(0, width - totalOf(columns));
  const widths = columns.map(({ least }) => least);
  const needy = columns
    .map(({ natural, least }, at) => ({ at, need: natural - least }))
    .filter(({ need }) => need > 0)
    .sort((one, other) => one.need - other.need);
  for (const [done, { at, need }] of needy.entries()) {
    const given = Math.min(need, Math.floor(room / (needy.length - done)));
    widths[at]! += given;
    room -= given;
  }
  return widths;
}

/** The lines of a row, as many as its longest cell needs. */
function linesOf(cells: Row, widths: readonly number[]): readonly string[] {
  const wrapped = cells.map((cell, column) => wrap(cell, widths[column]!));
  const height = Math.max(...wrapped.map((lines) => lines.length));
  return Array.from({ length: height }, (_, line) =>
    wrapped
      .map((lines, column) => (lines[line] ?? '').padEnd(widths[column]!))
      .join(gap)
      .trimEnd(),
  );
}

/** Breaks a text at spaces into lines of at most that width, and words that are longer anywhere. */
function wrap(text: string, width: number): readonly string[] {
  if (text.length <= width) return [text];
  const lines: string[] = [];
  let line = '';
  for (const word of text.split(' ').flatMap((each) => pieces(each, width))) {
    const longer = line === '' ? word : `${line} ${word}`;
    if (longer.length <= width) line = longer;
    else {
      lines.push(line);
      line = word;
    }
  }
  return [...lines, line];
}

function pieces(word: string, width: number): readonly string[] {
  const found: string[] = [];
  for (let at = 0; at < word.length; at += width) found.push(word.slice(at, at + width));
  return found;
}
