import { readFileSync } from 'node:fs';
import { join } from 'node:path';

/** One call of the table, with its placeholders. */
export interface MatrixCall {
  readonly method: string;
  readonly target: string;
  /** JSON; null: none is sent. */
  readonly body: string | null;
}

/** What one credential gets. */
export interface MatrixRow {
  readonly credential: string;
  /** By column: a status, and the code of a refusal. */
  readonly cells: readonly { readonly column: string; readonly expected: string }[];
}

/** Calls that are judged alike. */
export interface MatrixGrid {
  readonly title: string;
  readonly calls: readonly MatrixCall[];
  readonly rows: readonly MatrixRow[];
}

const file = join(import.meta.dirname, '../../corpora/roles.txt');
const callLine = /^(GET|POST|PUT|PATCH|DELETE) (\/\S*)(?: (\{.*\}))?$/;
const gap = / {2,}/;

/** The grids of test/corpora/roles.txt. Throws on a line that is none of the table. */
export function loadRoleTable(): readonly MatrixGrid[] {
  const [, ...blocks] = readFileSync(file, 'utf8').split(/^## /m);
  return blocks.map((block) => parseGrid(block.trimEnd().split('\n')));
}

function parseGrid([title = '', ...lines]: readonly string[]): MatrixGrid {
  const calls = lines.filter((line) => !line.includes(' | ')).map(parseCall);
  const [head, ...rows] = lines.filter((line) => line.includes(' | ')).map(parseRow);
  if (head === undefined || calls.length === 0) throw new Error(`"${title}" has no calls or no columns`);
  const columns = head.cells;
  return { title, calls, rows: rows.map(({ name, cells }) => ({ credential: name, cells: cellsOf(cells) })) };

  function cellsOf(found: readonly string[]): MatrixRow['cells'] {
    if (found.length !== 1 && found.length !== columns.length)
      throw new Error(`"${title}": ${found.length} cells for ${columns.length} columns`);
    return columns
      .map((column, index) => ({ column, expected: found[found.length === 1 ? 0 : index] as string }))
      .filter(({ expected }) => expected !== '-');
  }
}

function parseCall(line: string): MatrixCall {
  const [, method, target, body = null] = callLine.exec(line) ?? [];
  if (method === undefined || target === undefined) throw new Error(`no call: ${line}`);
  return { method, target, body };
}

function parseRow(line: string): { readonly name: string; readonly cells: readonly string[] } {
  const [name = '', cells = ''] = line.split(' | ');
  return { name: name.trim(), cells: cells.trim().split(gap) };
}
