import Database from 'better-sqlite3';

/**
 * Adds `count` copies of the newest row of a table, in one statement. `changed` gives SQL for columns that must differ, in which
 * `n` counts from 1.
 */
export function cloneNewestRow(
  file: string,
  table: string,
  count: number,
  changed: Readonly<Record<string, string>>,
): void {
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
       SELECT ${values.join(', ')} FROM numbers, (SELECT * FROM ${table} ORDER BY rowid DESC LIMIT 1)`,
    ).run(count);
  } finally {
    db.close();
  }
}
