import type { SqlDatabase } from '../sql/database.ts';
import type { Dialect } from '../sql/dialect.ts';
import { first, type Value } from '../sql/steps.ts';
import type { GroupedWrites } from './grouped-writes.ts';
import type { SessionPool } from './pool.ts';
import { beginSnapshot, follow, inTransaction } from './transaction.ts';

const dialect: Dialect = {
  keyRow: 'id',
  position: 'strpos',
  // With the collation "C", which all columns have, lower() folds only ASCII.
  contains: (column, part) => ({
    sql: `strpos(lower(${column}), ?) > 0`,
    values: [part.replace(/[A-Z]/g, (letter) => letter.toLowerCase())],
  }),
  tuple: 'json_build_array',
  json: (column) => `${column}::json`,
  arrayOf: (value, order) =>
    `coalesce(json_agg(${value}${order === undefined ? '' : ` ORDER BY ${order}`}), '[]')::text`,
  // The totals are kept by triggers: counting 100,000 rows would take 20 ms.
  countRows: (table) => `SELECT total FROM row_counts WHERE table_name = '${table}'`,
  elementsOf: (array) => `json_array_elements_text(${array}::json)`,
};

/** SQL for the server's present time in whole epoch ms, not that at which the transaction began. */
const selectTime = 'SELECT floor(extract(epoch FROM clock_timestamp()) * 1000)::bigint AS time';

/**
 * PostgreSQL as the database of a store. {@link GroupedWrites} states the guarantees of its writes. `testClock` replaces the
 * server's clock, epoch ms.
 */
export function createPostgresDatabase(
  readers: SessionPool,
  writes: GroupedWrites,
  testClock: (() => number) | undefined,
): SqlDatabase {
  /** Reads rows, and parses them within the call, as rows that can't be parsed are the store's failure. */
  const many = <Row, T>(sql: string, values: readonly Value[], parse: (rows: readonly Row[]) => T) =>
    readers.use(async (session) => parse((await session.query(sql, values)) as readonly Row[]));

  return {
    dialect,
    one: <Row, T>(sql: string, values: readonly Value[], parse: (row: Row | undefined) => T) =>
      many<Row, T>(sql, values, (rows) => parse(rows[0])),
    many,
    snapshot: (steps) =>
      readers.use((session) =>
        inTransaction(session, beginSnapshot, async () => {
          const result = await follow(session, steps(), { changes: [], hasWritten: false });
          await session.execute('COMMIT');
          return result;
        }),
      ),
    write: (steps) => writes.write(steps),
    // A dump has none of the overwritten values, and the server itself vacuums them.
    *noteRewrite() {},
    *time() {
      const row = yield* first<{ readonly time: number }>(selectTime);
      return testClock?.() ?? row!.time;
    },
  };
}
