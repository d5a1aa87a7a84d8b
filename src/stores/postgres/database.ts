import type { SqlDatabase } from '../sql/database.ts';
import { first, type Value } from '../sql/steps.ts';
import { postgresDialect } from './dialect.ts';
import type { GroupedWrites } from './grouped-writes.ts';
import type { SessionPool } from './pool.ts';
import { beginSnapshot, follow, inTransaction } from './transaction.ts';

export interface PostgresDatabaseOptions {
  readonly readers: SessionPool;
  readonly writes: GroupedWrites;
  /** A clock in place of the server's, epoch ms. */
  readonly testClock?: (() => number) | undefined;
}

/** The server's time in whole epoch ms, which is not that of the transaction's beginning. */
const selectTime = 'SELECT floor(extract(epoch FROM clock_timestamp()) * 1000)::bigint AS time';

/** PostgreSQL as the database of a store. {@link GroupedWrites} states the guarantees of its writes. */
export function createPostgresDatabase({ readers, writes, testClock }: PostgresDatabaseOptions): SqlDatabase {
  /** Parses within the call, as a result that can't be parsed is the store's failure. */
  async function query<Row, T>(
    sql: string,
    values: readonly Value[],
    parse: (rows: readonly Row[]) => T,
  ): Promise<T> {
    return readers.use(async (session) => parse((await session.query(sql, values)) as readonly Row[]));
  }

  return {
    dialect: postgresDialect,
    one: async <Row, T>(sql: string, values: readonly Value[], parse: (row: Row | undefined) => T) =>
      query<Row, T>(sql, values, (rows) => parse(rows[0])),
    many: async <Row, T>(sql: string, values: readonly Value[], parse: (rows: readonly Row[]) => T) =>
      query(sql, values, parse),
    snapshot: (steps) =>
      readers.use((session) =>
        inTransaction(session, beginSnapshot, async () => {
          const result = await follow(session, steps(), { changes: [], hasWritten: false });
          await session.execute('COMMIT');
          return result;
        }),
      ),
    write: (steps) => writes.write(steps),
    // A dump has only what can be read: the server itself vacuums the rest.
    *noteRewrite() {},
    *time() {
      const row = yield* first<{ readonly time: number }>(selectTime);
      return testClock?.() ?? row!.time;
    },
  };
}
