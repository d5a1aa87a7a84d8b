import { createHash } from 'node:crypto';
import type { Ask, CopyEnd, Row } from './copy-end.ts';
import type { Value } from './steps.ts';
import { recordsTables, type Table } from './tables.ts';

/** What a table holds: so many rows, and the SHA-256 (hex) of them all in the order of their keys. */
export interface TableSummary {
  readonly table: string;
  readonly rows: number;
  readonly sha256: string;
}

/** Why records are not copied; nothing was kept. */
export class CopyRefusal extends Error {
  readonly code: 'target_not_empty' | 'copy_differs';
  /** The tables that hold rows already, or that differ. */
  readonly tables: readonly string[];

  constructor(code: CopyRefusal['code'], tables: readonly string[]) {
    super(`${code}: ${tables.join(', ')}`);
    this.name = 'CopyRefusal';
    this.code = code;
    this.tables = tables;
  }
}

/** So many rows are read and written at once; SQLite takes at most 32,766 values in a query. */
const pageSize = 500;

/**
 * Copies all records of one moment and verifies them: what the target gives back, before it is kept, must have the counts
 * and checksums of what the source gave. `onTable` is told of each table that was written. Rejects with
 * {@link CopyRefusal} when the target holds anything already, or gives back something else.
 */
export function copyRecords(
  source: CopyEnd,
  target: CopyEnd,
  onTable: (summary: TableSummary) => void,
): Promise<readonly TableSummary[]> {
  return source.transaction((read) =>
    target.transaction(async (write) => {
      await requireEmpty(write);
      const given: TableSummary[] = [];
      for (const table of recordsTables) {
        const summary = await copyTable(table, read, write);
        given.push(summary);
        onTable(summary);
      }
      await requireSame(write, given);
      return given;
    }),
  );
}

async function requireEmpty(ask: Ask): Promise<void> {
  const filled: string[] = [];
  for (const { name, isSeeded } of recordsTables) {
    if (isSeeded) continue;
    const rows = await ask(`SELECT 1 AS found FROM ${name} LIMIT 1`);
    if (rows.length > 0) filled.push(name);
  }
  if (filled.length > 0) throw new CopyRefusal('target_not_empty', filled);
}

async function copyTable(table: Table, read: Ask, write: Ask): Promise<TableSummary> {
  if (table.isSeeded) await write(`DELETE FROM ${table.name}`);
  return summarise(table, read, async (rows) => {
    const places = `(${table.columns.map(() => '?').join(', ')})`;
    const values = rows.flatMap((row) => table.columns.map((column) => row[column]!));
    await write(
      `INSERT INTO ${table.name} (${table.columns.join(', ')}) VALUES ${rows.map(() => places).join(', ')}`,
      values,
    );
  });
}

async function requireSame(ask: Ask, given: readonly TableSummary[]): Promise<void> {
  const different: string[] = [];
  for (const [index, table] of recordsTables.entries()) {
    const { rows, sha256 } = await summarise(table, ask, async () => {});
    if (rows !== given[index]!.rows || sha256 !== given[index]!.sha256) different.push(table.name);
  }
  if (different.length > 0) throw new CopyRefusal('copy_differs', different);
}

/** Reads a table page by page, so that it need not fit into memory. */
async function summarise(
  table: Table,
  ask: Ask,
  onPage: (rows: readonly Row[]) => Promise<void>,
): Promise<TableSummary> {
  const hash = createHash('sha256');
  const key = table.key.join(', ');
  const select = `SELECT ${table.columns.join(', ')} FROM ${table.name}`;
  const order = `ORDER BY ${key} LIMIT ${pageSize}`;
  const after = `WHERE (${key}) > (${table.key.map(() => '?').join(', ')})`;
  let count = 0;
  let page = await ask(`${select} ${order}`);
  while (page.length > 0) {
    for (const row of page) hash.update(`${lineOf(table, row)}\n`);
    count += page.length;
    await onPage(page);
    const last = page.at(-1)!;
    if (page.length < pageSize) break;
    page = await ask(
      `${select} ${after} ${order}`,
      table.key.map((column) => last[column]!),
    );
  }
  return { table: table.name, rows: count, sha256: hash.digest('hex') };
}

/** The same text whichever database a row is from, and another one for every other row. */
function lineOf({ columns }: Table, row: Row): string {
  return JSON.stringify(columns.map((column) => readable(row[column]!)));
}

function readable(value: Value): unknown {
  return value instanceof Uint8Array ? { hex: Buffer.from(value).toString('hex') } : value;
}
