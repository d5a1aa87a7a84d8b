import type { RecordsChange } from '../change-feed.ts';
import type { SqlDatabase } from '../sql/database.ts';
import type { Steps, Value } from '../sql/steps.ts';
import { announceChange } from './change-log.ts';
import { formatHints, notifiedHints } from './changes.ts';
import { postgresDialect } from './dialect.ts';
import { PostgresFailure } from './failures.ts';
import type { Session, SessionPool } from './pool.ts';

export interface PostgresDatabaseOptions {
  readonly readers: SessionPool;
  /** With one connection: writers wait for each other anyway, and so leave the other connections to readers. */
  readonly writers: SessionPool;
  /** The channel on which changes are notified. */
  readonly channel: string;
}

/** How many attempts a write has that conflicts with others. */
const maxAttempts = 3;

/** Begins a read-only snapshot. */
export const beginSnapshot = 'BEGIN ISOLATION LEVEL REPEATABLE READ, READ ONLY';
/** Begins a write. The lock comes first: its holder sees everything that was committed under it before. */
export const beginWrite = `BEGIN ISOLATION LEVEL READ COMMITTED;
  SELECT version FROM store_state WHERE id = 1 FOR UPDATE`;

/**
 * PostgreSQL as the database of a store. Writes are serialised across all processes, and each that changes what may
 * be cached leads to the next version and notifies it in the same transaction: in the order of versions, and only when
 * it is committed. Whether a write that was refused with `store_unavailable` happened is unknown: the reply to its
 * COMMIT may have been lost. It is atomic, and the caller may try again.
 */
export function createPostgresDatabase(options: PostgresDatabaseOptions): SqlDatabase {
  const { readers, writers, channel } = options;

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
          const { result } = await follow(session, steps());
          await session.execute('COMMIT');
          return result;
        }),
      ),
    write: (steps) => writers.use((session) => retryConflicts(() => writeOnce(session, steps(), channel))),
  };
}

/** Repeats what was rolled back because of a conflict with another transaction. */
export async function retryConflicts<T>(attempt: () => Promise<T>): Promise<T> {
  for (let left = maxAttempts - 1; ; left -= 1) {
    try {
      return await attempt();
    } catch (error) {
      const isConflict = error instanceof PostgresFailure && error.kind === 'conflict';
      if (!isConflict || left === 0) throw error;
    }
  }
}

function writeOnce<T>(session: Session, steps: Steps<T>, channel: string): Promise<T> {
  return inTransaction(session, beginWrite, async () => {
    const { result, changes, hasWritten } = await follow(session, steps);
    if (changes.length > 0) {
      const hints = formatHints(changes);
      await session.query(announceChange, [channel, hints, notifiedHints(hints)]);
    }
    // If nothing was written there is no need to wait for the disk.
    await session.execute(hasWritten ? 'COMMIT' : 'ROLLBACK');
    return result;
  });
}

/** Calls `work`, which commits, in a transaction started by `begin`; rolls back when it rejects. */
export async function inTransaction<T>(session: Session, begin: string, work: () => Promise<T>): Promise<T> {
  try {
    await session.execute(begin);
    return await work();
  } catch (error) {
    // If this fails, too, the connection is not used again, and the server rolls back.
    await session.execute('ROLLBACK').catch(() => {});
    throw error;
  }
}

interface Outcome<T> {
  readonly result: T;
  readonly changes: readonly RecordsChange[];
  readonly hasWritten: boolean;
}

async function follow<T>(session: Session, steps: Steps<T>): Promise<Outcome<T>> {
  const changes: RecordsChange[] = [];
  let hasWritten = false;
  let step = steps.next();
  while (!step.done) {
    let rows: readonly unknown[] = [];
    if ('changed' in step.value) changes.push(step.value.changed);
    else {
      hasWritten ||= step.value.writes;
      rows = await session.query(step.value.sql, step.value.values);
    }
    step = steps.next(rows);
  }
  return { result: step.value, changes, hasWritten };
}
