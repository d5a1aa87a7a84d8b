import { join } from 'node:path';
import Database from 'better-sqlite3';
import { type AuditEventName, auditEvents } from '../../../src/log/audit-events.ts';
import type { PostgresServer } from './postgres-server.ts';

/** The rows of each table of the records, each as JSON. */
export type Tables = Readonly<Record<string, readonly string[]>>;

/** What a change does to tables, e.g. `users: 1 added, 1 removed`. */
export type Difference = readonly string[];

/**
 * Compared apart: what ends sessions also leaves lines of its own, after the transaction, and gateways take the lines of
 * commands for their log whenever they like. Row counts, the audit's among them, have a test of their own, and so have prefixes,
 * of which the first key leaves one.
 */
const auditTables = ['audit', 'audit_state', 'command_events', 'row_counts', 'api_key_prefixes'];
/** Noted by themselves, now and then. */
const notedColumns = ['last_used', 'last_used_order', 'last_login', 'last_login_order'];

function asText(row: object): string {
  return JSON.stringify(row, (column, value) => (notedColumns.includes(column) ? undefined : value));
}

/** What became of tables; but for the audit, which is counted by {@link countEvents}. */
export function differenceOf(before: Tables, after: Tables): Difference {
  return Object.entries(after).flatMap(([table, rows]) => {
    if (auditTables.includes(table)) return [];
    const [added, removed] = [countNew(before[table], rows), countNew(rows, before[table])];
    return added + removed === 0 ? [] : [`${table}: ${added} added, ${removed} removed`];
  });
}

/** Reads the records of a folder. */
export async function readSqlite(folder: string): Promise<Tables> {
  const db = new Database(join(folder, 'records.db'));
  try {
    const names = db.prepare<[], string>(`SELECT name FROM sqlite_schema WHERE type = 'table'`).pluck().all();
    return Object.fromEntries(
      names.map((name) => [name, db.prepare<[], object>(`SELECT * FROM ${name}`).all().map(asText)]),
    );
  } finally {
    db.close();
  }
}

/** Reads the records in the default schema. */
export async function readPostgres({ query }: PostgresServer): Promise<Tables> {
  const names = await query<{ name: string }>(
    `SELECT table_name AS name FROM information_schema.tables WHERE table_schema = 'postern' ORDER BY 1`,
  );
  const tables: [string, string[]][] = [];
  for (const { name } of names)
    tables.push([name, (await query(`SELECT * FROM postern.${name}`)).map(asText)]);
  return Object.fromEntries(tables);
}

/** How many audit lines there are that there were not; of those that are written with a change, whatever else is now. */
export function countEvents(before: Tables, after: Tables): number {
  const known = new Set(before.audit);
  return (after.audit ?? []).filter((row) => !known.has(row) && isOfChange(JSON.parse(row).event)).length;
}

function isOfChange(event: AuditEventName): boolean {
  return auditEvents[event].kept === 'with_change';
}

function countNew(before: readonly string[] = [], after: readonly string[] = []): number {
  const known = new Set(before);
  return after.filter((row) => !known.has(row)).length;
}
