import { escapeControls } from '../log/escape-controls.ts';
import type { Call, Terminal } from './command.ts';
import { printResult } from './terminal.ts';

/** A column of a table. */
export interface Column {
  readonly title: string;
  /** True if long cells continue on further lines. */
  readonly wraps?: boolean;
  /** Rank among the columns that leave a table while it is too wide, 1 first; absent: the column never leaves. */
  readonly leaves?: number;
  /** True if cells of a column that has left are on a line below their row; default: they aren't shown. */
  readonly goesBelow?: boolean;
}

type Row = readonly string[];
/** A column with its widths, in columns of the terminal. */
interface Measured {
  readonly column: Column;
  readonly index: number;
  /** Width of the widest cell. */
  readonly natural: number;
  /** Width below which ids and words would be broken. */
  readonly least: number;
  /** Width below which the column is of no use. */
  readonly narrowest: number;
}

/** A table without its rows: the columns that a width has room for. */
interface Layout {
  readonly head: readonly string[];
  /** The lines of a row, the ones below it included. */
  linesOf(row: Row): readonly string[];
  /** Titles of the columns whose cells aren't shown. */
  readonly leftOut: readonly string[];
}

const gap = '  ';
/** Beginning of the lines below a row. */
const indent = '    ';
/** Width that a column which wraps keeps, unless its cells are shorter. */
const narrowestWrapped = 10;
/** Length up to which a word is broken only where nothing else helps. */
const longestWhole = 22;
/** A UUID, or the id of a signing key: half of it is useless. */
const id = /^(?:[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}|[\w-]{43})$/;

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
  const text = rows.length === 0 ? none : table(columns, rows, tableWidth(call.terminal));
  await printResult(call, value, text);
}

/** Width for tables on standard output; on a pipe they are as wide as they need. */
export function tableWidth({ stdout }: Pick<Terminal, 'stdout'>): number {
  return stdout.isTTY ? stdout.columns || 80 : Number.POSITIVE_INFINITY;
}

/** Rows in columns, in the layout that {@link layOut} finds for them; a last line names the columns that aren't shown. */
export function table(
  columns: readonly Column[],
  rows: readonly Row[],
  width = Number.POSITIVE_INFINITY,
): string {
  const { head, linesOf, leftOut } = layOut(columns, rows, width);
  const lines = [...head, ...rows.flatMap(linesOf)];
  if (leftOut.length > 0)
    lines.push('', ...wrap(`Left out here: ${leftOut.join(', ')} (see --json).`, width));
  return lines.join('\n');
}

/**
 * Lays out rows in columns as wide as their widest cell, or narrower to fit a width: cells are wrapped between words, then
 * columns leave, then words are broken. Characters that could control a terminal are escaped.
 */
export function layOut(columns: readonly Column[], rows: readonly Row[], width: number): Layout {
  const cells = rows.map((row) => row.map(escapeControls));
  // Without a bound nothing wraps, later rows neither.
  const isBounded = Number.isFinite(width);
  const measured = columns.map((column, index) =>
    measure({ ...column, wraps: isBounded && column.wraps === true }, index, cells),
  );
  const shown = fitting(measured, width);
  const widths = widthsOf(shown, width);
  const gone = measured
    .filter((each) => !shown.includes(each))
    .map(({ column, index }) => ({ ...column, index }));
  const below = gone.filter(({ goesBelow }) => goesBelow);
  return {
    head: inColumns(
      columns.map(({ title }) => title),
      shown,
      widths,
    ),
    linesOf(row) {
      const escaped = row.map(escapeControls);
      const parts = below
        .filter(({ index }) => (escaped[index] ?? '') !== '')
        .map(({ title, index }) => `${title} ${escaped[index]}`);
      return [...inColumns(escaped, shown, widths), ...linesBelow(parts, width)];
    },
    leftOut: gone.filter(({ goesBelow }) => !goesBelow).map(({ title }) => title),
  };
}

function measure(column: Column, index: number, rows: readonly Row[]): Measured {
  const cells = [column.title, ...rows.map((row) => row[index] ?? '')];
  const natural = widest(cells);
  if (!column.wraps) return { column, index, natural, least: natural, narrowest: natural };
  const narrowest = Math.min(natural, Math.max(column.title.length, narrowestWrapped));
  const whole = cells.flatMap((cell) => cell.split(' ').filter(isKeptWhole));
  return { column, index, natural, least: Math.max(narrowest, widest(whole)), narrowest };
}

/** Length of the longest of these texts. They may be more than a call takes arguments. */
function widest(texts: readonly string[]): number {
  return texts.reduce((longest, { length }) => Math.max(longest, length), 0);
}

function isKeptWhole(word: string): boolean {
  return word.length <= longestWhole || id.test(word);
}

/** The columns that fit a width at their least. */
function fitting(measured: readonly Measured[], width: number): readonly Measured[] {
  const shown = [...measured];
  const rank = ({ column }: Measured) => column.leaves ?? Number.POSITIVE_INFINITY;
  while (total(shown.map(({ least }) => least)) > width) {
    const first = shown.toSorted((one, other) => rank(one) - rank(other))[0];
    if (first === undefined || first.column.leaves === undefined) return shown;
    shown.splice(shown.indexOf(first), 1);
  }
  return shown;
}

/** Width of columns of these widths side by side. */
function total(widths: readonly number[]): number {
  return widths.reduce((sum, each) => sum + each, gap.length * (widths.length - 1));
}

/** Widths of columns, as equal as their cells and words allow. */
function widthsOf(columns: readonly Measured[], width: number): readonly number[] {
  const least = columns.map((each) => each.least);
  const widths = total(least) > width ? columns.map(({ narrowest }) => narrowest) : least;
  for (let room = width - total(widths); room > 0; room--) {
    const needy = columns.flatMap(({ natural }, at) => (widths[at]! < natural ? [at] : []));
    if (needy.length === 0) break;
    const next = needy.reduce((one, other) => (widths[other]! <= widths[one]! ? other : one));
    widths[next]!++;
  }
  return widths;
}

/** The lines of a row in its columns, as many as its longest cell needs. */
function inColumns(cells: Row, shown: readonly Measured[], widths: readonly number[]): readonly string[] {
  const wrapped = shown.map(({ column, index }, at) => {
    const cell = cells[index] ?? '';
    return column.wraps ? wrap(cell, widths[at]!) : [cell];
  });
  const height = Math.max(...wrapped.map((lines) => lines.length));
  return Array.from({ length: height }, (_, line) =>
    wrapped
      .map((lines, column) => (lines[line] ?? '').padEnd(widths[column]!))
      .join(gap)
      .trimEnd(),
  );
}

/** The lines below a row: as many of its other cells on each as have room there. */
function linesBelow(parts: readonly string[], width: number): readonly string[] {
  const room = Math.max(1, width - indent.length);
  const lines: string[] = [];
  for (const part of parts) {
    const last = lines.at(-1);
    if (last !== undefined && last.length + gap.length + part.length <= room)
      lines[lines.length - 1] = `${last}${gap}${part}`;
    else lines.push(...wrap(part, room));
  }
  return lines.map((line) => `${indent}${line}`);
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
  for (let at = 0; at < word.length; at += found.at(-1)!.length) {
    const end = at + width;
    const cutsPair = width > 1 && isLowSurrogate(word.charCodeAt(end));
    found.push(word.slice(at, cutsPair ? end - 1 : end));
  }
  return found;
}

/** True for the second half of a character beyond U+FFFF; false for the NaN after the end of a text. */
const isLowSurrogate = (code: number) => code >= 0xdc00 && code <= 0xdfff;
