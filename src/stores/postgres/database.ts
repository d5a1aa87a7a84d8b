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
  /** Of one connection: writers wait for each other anyway, and so don't keep connections from those who read. */
  readonly writers: SessionPool;
  /** The channel on which changes are told. */
  readonly channel: string;
}

/** How often a write is tried that lost against another. */
const maxAttempts = 3;

/** Begins what sees one moment and can change nothing. */
export const beginSnapshot = 'BEGIN ISOLATION LEVEL REPEATABLE READ, READ ONLY';
/** Begins a write. The lock comes first: whoever has it sees everything that others did under it before. */
export const beginWrite = `BEGIN ISOLATION LEVEL READ COMMITTED;
  SELECT version FROM store_state WHERE id = 1 FOR UPDATE`;

/**
 * A PostgreSQL as the database of a store. Writes go one after another over all processes, and each that changes what is
 * remembered leads to the next version and tells of it in the same transaction: in the order of versions, and only once
 * it is committed. Whether a write happened that was refused with `store_unavailable` can't be known: the answer to its
 * COMMIT may have been lost. It happened whole or not at all, and the caller may try again.
 */
export function createPostgresDatabase(options: PostgresDatabaseOptions): SqlDatabase {
  const { readers, writers, channel } = options;

  /** Parsed while it is asked, for what can't be read is the store's failure. */
  async function ask<Row, T>(
    sql: string,
    values: readonly Value[],
    parse: (rows: readonly Row[]) => T,
  ): Promise<T> {
    return readers.use(async (session) => parse((await session.query(sql, values)) as readonly Row[]));
  }

  return {
    dialect: postgresDialect,
    one: async <Row, T>(sql: string, values: readonly Value[], parse: (row: Row | undefined) => T) =>
      ask<Row, T>(sql, values, (rows) => parse(rows[0])),
    many: async <Row, T>(sql: string, values: readonly Value[], parse: (rows: readonly Row[]) => T) =>
      ask(sql, values, parse),
    snapshot: (steps) =>
      readers.use((session) =>
        inTransaction(session, beginSnapshot, async () => {
          const { result } = await follow(session, steps());
          await session.execute('COMMIT');
          return result;
        }),
      ),
    write: (steps) => writers.use((session) => tryAgain(() => writeOnce(session, steps(), channel))),
  };
}

/** Tries again what lost against another transaction, which left nothing behind. */
export async function tryAgain<T>(attempt: () => Promise<T>): Promise<T> {
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
    // Where nothing was written the disk need not be waited for.
    await session.execute(hasWritten ? 'COMMIT' : 'ROLLBACK');
    return result;
  });
}

/** Calls `work`, which commits, in a transaction that `begin` begins; rolls back when it rejects. */
export async function inTransaction<T>(session: Session, begin: string, work: () => Promise<T>): Promise<T> {
  try {
    await session.execute(begin);
    return await work();
  } catch (error) {
    // A connection where this fails, too, is not used again: the server rolls back then.
    await session.execute('ROLLBACK').catch(() => {});
    throw error;
  }
}

interface Followed<T> {
  readonly result: T;
  readonly changes: readonly RecordsChange[];
  readonly hasWritten: boolean;
}

async function follow<T>(session: Session, steps: Steps<T>): Promise<Followed<T>> {
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
