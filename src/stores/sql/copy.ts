import { createHash } from 'node:crypto';
import type { AuditEntry } from '../../log/log.ts';
import type { AuditOf } from '../audit.ts';
import type { Awaitable } from '../awaitable.ts';
import { keepAudit } from './audit-events.ts';
import type { Steps, Value } from './steps.ts';
import { recordsTables, type Table } from './tables.ts';

/** Runs one query in an open transaction and returns its rows; each `?` stands for the next value. */
export type RunQuery = (sql: string, values?: readonly Value[]) => Awaitable<readonly Row[]>;

/** A row by column name; its values are texts, safe integers, bytes and nulls. */
export type Row = Readonly<Record<string, Value>>;

/** Records that were opened only as the source or the target of a copy. */
export interface CopyEnd {
  /** The file or the address of the records, without credentials. */
  readonly location: string;
  /**
   * Runs `work` in one transaction. On a source, this is a read-only snapshot; on a target, it blocks other writers, and is
   * committed as a whole or not at all. Rejects with `store_unavailable`, or with the error of `work`.
   */
  transaction<T>(work: (query: RunQuery) => Promise<T>): Promise<T>;
  close(): Promise<void>;
}

/** Summary of a table: the number of its rows, and the SHA-256 (hex) of all rows in the order of the primary key. */
export interface TableSummary {
  readonly table: string;
  readonly rows: number;
  readonly sha256: string;
}

/** The reason why records were not copied; nothing was committed. */
export class CopyRefusal extends Error {
  readonly code: 'target_not_empty' | 'copy_differs';
  /** The tables that already hold rows, or that differ. */
  readonly tables: readonly string[];

  constructor(code: CopyRefusal['code'], tables: readonly string[]) {
    super(`${code}: ${tables.join(', ')}`);
    this.name = 'CopyRefusal';
    this.code = code;
    this.tables = tables;
  }
}

/** Number of rows read and written at once; SQLite allows at most 32,766 values in a query. */
const pageSize = 500;

/**
 * Copies a snapshot of all records to an empty target; resolves to the summaries of all tables. Before the commit, the row counts
 * and checksums of the target must equal those of the source; then the audit events of the copy are added. `now` is epoch ms.
 * Rejects with {@link CopyRefusal} when the target already holds anything, or its contents differ.
 */
export async function copyRecords(
  source: CopyEnd,
  target: CopyEnd,
  {
    onTable,
    audit,
  }: {
    /** Called after each table is written, before the commit. */
    readonly onTable: (summary: TableSummary) => void;
    /** Audit events of the copy; they are kept in the target, in the same transaction. */
    readonly audit: AuditOf<void>;
  },
  now: number,
): Promise<readonly TableSummary[]> {
  let entries: readonly AuditEntry[] = [];
  const tables = await source.transaction((read) =>
    target.transaction(async (write) => {
      await requireEmpty(write);
      const summaries: TableSummary[] = [];
      for (const table of recordsTables) {
        const summary = await copyTable(table, read, write);
        summaries.push(summary);
        onTable(summary);
      }
      await requireSame(write, summaries);
      entries = await follow(write, keepAudit(audit, undefined, now));
      return summaries;
    }),
  );
  audit.onWritten(entries);
  return tables;
}

/** Runs steps in the transaction of a copy. The changes they note are ignored: no gateway is notified of a copy. */
async function follow<T>(query: RunQuery, steps: Steps<T>): Promise<T> {
  let step = steps.next();
  while (!step.done)
    step = steps.next('sql' in step.value ? await query(step.value.sql, step.value.values) : []);
  return step.value;
}

async function requireEmpty(query: RunQuery): Promise<void> {
  const filled: string[] = [];
  for (const { name, isSeeded } of recordsTables) {
    if (isSeeded) continue;
    const rows = await query(`SELECT 1 AS found FROM ${name} LIMIT 1`);
    if (rows.length > 0) filled.push(name);
  }
  if (filled.length > 0) throw new CopyRefusal('target_not_empty', filled);
}

async function copyTable(table: Table, read: RunQuery, write: RunQuery): Promise<TableSummary> {
  if (table.isSeeded) await write(`DELETE FROM ${table.name}`);
  return summarise(table, read, async (rows) => {
    const placeholders = `(${table.columns.map(() => '?').join(', ')})`;
    const values = rows.flatMap((row) => table.columns.map((column) => row[column]!));
    await write(
      `INSERT INTO ${table.name} (${table.columns.join(', ')}) VALUES ${rows.map(() => placeholders).join(', ')}`,
      values,
    );
  });
}

async function requireSame(query: RunQuery, source: readonly TableSummary[]): Promise<void> {
  const different: string[] = [];
  for (const [index, table] of recordsTables.entries()) {
    const { rows, sha256 } = await summarise(table, query, async () => {});
    if (rows !== source[index]!.rows || sha256 !== source[index]!.sha256) different.push(table.name);
  }
  if (different.length > 0) throw new CopyRefusal('copy_differs', different);
}

/** Summarises a table, reading it page by page, as it may not fit into memory. */
async function summarise(
  table: Table,
  query: RunQuery,
  onPage: (rows: readonly Row[]) => Promise<void>,
): Promise<TableSummary> {
  const hash = createHash('sha256');
  const key = table.key.join(', ');
  const select = `SELECT ${table.columns.join(', ')} FROM ${table.name}`;
  const order = `ORDER BY ${key} LIMIT ${pageSize}`;
  const after = `WHERE (${key}) > (${table.key.map(() => '?').join(', ')})`;
  let count = 0;
  let page = await query(`${select} ${order}`);
  while (page.length > 0) {
    for (const row of page) hash.update(`${lineOf(table, row)}\n`);
    count += page.length;
    await onPage(page);
    const last = page.at(-1)!;
    if (page.length < pageSize) break;
    page = await query(
      `${select} ${after} ${order}`,
      table.key.map((column) => last[column]!),
    );
  }
  return { table: table.name, rows: count, sha256: hash.digest('hex') };
}

/** Renders a row as text: the same for equal rows of any two databases, and different for different rows. */
function lineOf({ columns }: Table, row: Row): string {
  const values = columns.map((column) => {
    const value = row[column]!;
    return value instanceof Uint8Array ? { hex: Buffer.from(value).toString('hex') } : value;
  });
  return JSON.stringify(values);
}
