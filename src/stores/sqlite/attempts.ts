import type { AttemptLimit, AttemptOutcome, Attempts } from '../attempts.ts';
import type { Connection } from './connection.ts';

interface Counter {
  readonly count: number;
  /** When its window ends, epoch ms. */
  readonly ends: number;
}

/** How many counters are deleted, and how many calls are served, in one transaction: about a millisecond each. */
const pruneBatch = 500;
const callBatch = 50;

/** Counters of attempts in a SQLite file, shared by all processes on it; `now` is the store's clock. */
export interface SqliteAttempts extends Attempts {
  /** Deletes the counters whose window has ended. */
  pruneAttempts(): Promise<void>;
}

/** Counts attempts in the file of the sessions. A refused attempt, or one given back, leaves no trace. */
export function createSqliteAttempts({ db, write }: Connection, now: () => number): SqliteAttempts {
  const byKey = db.prepare<[string], Counter>('SELECT count, ends FROM attempts WHERE key = ?');
  const put = db.prepare<[string, number, number]>(
    'INSERT INTO attempts (key, count, ends) VALUES (?, ?, ?) ON CONFLICT (key) DO UPDATE SET count = excluded.count, ends = excluded.ends',
  );
  const takeOne = db.prepare<[string]>('UPDATE attempts SET count = count - 1 WHERE key = ?');
  const removeSpent = db.prepare<[string, number]>(
    'DELETE FROM attempts WHERE key = ? AND (count <= 1 OR ends <= ?)',
  );
  const removeEnded = db.prepare<[number, number]>(
    'DELETE FROM attempts WHERE key IN (SELECT key FROM attempts WHERE ends <= ? LIMIT ?)',
  );

  /** The counter of the current window, or of a new one. */
  function counterOf(key: string, at: number, windowMs: number): Counter {
    const found = byKey.get(key);
    if (found === undefined || found.ends <= at) return { count: 0, ends: at + windowMs };
    // A clock that was set back, or a shorter window configured since, must not prolong the window.
    return { count: found.count, ends: Math.min(found.ends, at + windowMs) };
  }

  function count(limits: readonly AttemptLimit[], windowMs: number): AttemptOutcome {
    const at = now();
    const counters = limits.map(({ key }) => counterOf(key, at, windowMs));
    for (const [index, { count, ends }] of counters.entries())
      if (count >= limits[index]!.points) return { allowed: false, retryAfterMs: ends - at };
    for (const [index, { count, ends }] of counters.entries()) put.run(limits[index]!.key, count + 1, ends);
    return { allowed: true };
  }

  function giveBack(limits: readonly AttemptLimit[]): void {
    const at = now();
    for (const { key } of limits) if (removeSpent.run(key, at).changes === 0) takeOne.run(key);
  }

  const inBatch = createBatches(write);
  return {
    count: (limits, windowMs) => inBatch(() => count(limits, windowMs)),
    giveBack: (limits) => inBatch(() => giveBack(limits)),
    async pruneAttempts() {
      let removed: number;
      do {
        removed = (await write(() => removeEnded.run(now(), pruneBatch))).changes;
      } while (removed === pruneBatch);
    },
  };
}

/**
 * Runs the steps of many callers in one transaction: a flood of sign-ins, with two calls each, then waits for a few
 * writes instead of hundreds. The steps run in the order of the calls; when the transaction fails, it fails for all of
 * them.
 */
function createBatches(write: Connection['write']): <T>(step: () => T) => Promise<T> {
  let open: (() => unknown)[] = [];
  let underway: Promise<unknown[]> | undefined;

  return async <T>(step: () => T) => {
    if (underway === undefined || open.length >= callBatch) {
      const steps: (() => unknown)[] = [];
      open = steps;
      underway = write(() => {
        // No step joins a batch that has begun, even if it begins again because of a lock held elsewhere.
        if (open === steps) underway = undefined;
        return steps.map((run) => run());
      });
    }
    const index = open.push(step) - 1;
    return (await underway)[index] as T;
  };
}
