import type { RecordsChange } from '../remote/change-feed.ts';
import type { Steps } from '../sql/steps.ts';
import { PostgresFailure } from './failures.ts';
import type { Session } from './pool.ts';

/** Maximum number of attempts of a write that conflicts with others. */
const maxAttempts = 3;

/** SQL that begins a read-only snapshot. */
export const beginSnapshot = 'BEGIN ISOLATION LEVEL REPEATABLE READ, READ ONLY';
/** SQL that begins a write. It takes the lock first: the holder sees everything that earlier holders have committed. */
export const beginWrite = `BEGIN ISOLATION LEVEL READ COMMITTED;
  SELECT version FROM store_state WHERE id = 1 FOR UPDATE`;

/** Progress of steps in a transaction. */
export interface Progress {
  /** In order. */
  readonly changes: RecordsChange[];
  hasWritten: boolean;
}

/** Calls `attempt` up to three times, as long as it is rolled back because of a conflict with another transaction. */
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

/** Runs steps in the transaction of a session, and notes their changes and writes in `progress`. */
export async function follow<T>(session: Session, steps: Steps<T>, progress: Progress): Promise<T> {
  let step = steps.next();
  while (!step.done) {
    let rows: readonly unknown[] = [];
    if ('changed' in step.value) progress.changes.push(step.value.changed);
    else {
      progress.hasWritten ||= step.value.writes;
      rows = await session.query(step.value.sql, step.value.values);
    }
    step = steps.next(rows);
  }
  return step.value;
}
