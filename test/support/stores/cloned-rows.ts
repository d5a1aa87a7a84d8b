import Database from 'better-sqlite3';

/** Rows to add. */
export interface ClonedRows {
  readonly table: string;
  /** Column by which the newest row is the one that is copied. */
  readonly newestBy: string;
  readonly count: number;
  /** SQL for columns that must differ; in it `n` counts from 1. */
  readonly changed: Readonly<Record<string, string>>;
}

/** Adds copies of the newest row of a table, in one statement. */
export function cloneNewestRow(file: string, { table, newestBy, count, changed }: ClonedRows): void {
  const db = new Database(file);
  try {
    const columns = db
      .prepare<[], { name: string }>(`PRAGMA table_info(${table})`)
      .all()
      .map(({ name }) => name);
    const values = columns.map((name) => changed[name] ?? `"${name}"`);
    db.prepare(
      `WITH RECURSIVE numbers(n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM numbers WHERE n < ?)
       INSERT INTO ${table} (${columns.map((name) => `"${name}"`).join(', ')})
       SELECT ${values.join(', ')} FROM numbers, (SELECT * FROM ${table} ORDER BY ${newestBy} DESC LIMIT 1)`,
    ).run(count);
  } finally {
    db.close();
  }
}

/** The greatest value of a column of numbers. */
export function greatest(file: string, table: string, column: string): number {
  const db = new Database(file);
  try {
    return db.prepare<[], number>(`SELECT max(${column}) FROM ${table}`).pluck().get()!;
  } finally {
    db.close();
  }
}

/** Sets a column of every row. */
export function setNumber(file: string, table: string, column: string, value: number): void {
  const db = new Database(file);
  try {
    db.prepare(`UPDATE ${table} SET ${column} = ?`).run(value);
  } finally {
    db.close();
  }
}
