import type { AttemptCounter, AttemptLimit, AttemptOutcome, Attempts } from '../attempts.ts';
import type { Connection } from './connection.ts';

interface Counter {
  readonly count: number;
  /** End of the window, epoch ms. */
  readonly ends: number;
}

/** Maximum numbers of counters deleted, and of calls served, in one transaction, which takes about a millisecond. */
const pruneBatch = 500;
const callBatch = 50;

/**
 * Counts attempts in the file of the sessions, for all processes that use it; `now` is the store's clock. An attempt that is
 * refused or given back leaves no trace.
 */
export function createSqliteAttempts({ db, read, write }: Connection, now: () => number) {
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

  const ofGroup = db.prepare<[string, string, number], Counter & { readonly key: string }>(
    'SELECT key, count, ends FROM attempts WHERE key >= ? AND key < ? AND ends > ?',
  );
  const removeGroup = db.prepare<[string, string]>('DELETE FROM attempts WHERE key >= ? AND key < ?');

  /** The counter of the current window, or of a new one. */
  function counterOf(key: string, at: number, windowMs: number): Counter {
    const found = byKey.get(key);
    if (found === undefined || found.ends <= at) return { count: 0, ends: at + windowMs };
    // A clock that was set back, or a shorter window configured since, must not prolong the window.
    return { count: found.count, ends: Math.min(found.ends, at + windowMs) };
  }

  function count(limits: readonly AttemptLimit[], windowMs: number): AttemptOutcome {
    const at = now();
    const counters = limits.map((limit) => counterOf(rowOf(limit), at, windowMs));
    for (const [index, { count, ends }] of counters.entries())
      if (count >= limits[index]!.points) return { allowed: false, retryAfterMs: ends - at };
    for (const [index, { count, ends }] of counters.entries())
      put.run(rowOf(limits[index]!), count + 1, ends);
    return { allowed: true };
  }

  function giveBack(limits: readonly AttemptLimit[]): void {
    const at = now();
    for (const row of limits.map(rowOf)) if (removeSpent.run(row, at).changes === 0) takeOne.run(row);
  }

  function find(group: string): readonly AttemptCounter[] {
    const at = now();
    const [from, to] = rowsOf(group);
    return ofGroup
      .all(from, to, at)
      .map(({ key, count, ends }) => ({ key: key.slice(from.length), count, remainingMs: ends - at }));
  }

  const inBatch = createBatches(write);
  return {
    count: (limits, windowMs) => inBatch(() => count(limits, windowMs)),
    giveBack: (limits) => inBatch(() => giveBack(limits)),
    findAttempts: async (group) => read(() => find(group)),
    async liftAttempts(group) {
      await write(() => removeGroup.run(...rowsOf(group)));
    },
    /** Deletes the counters whose window had ended by `until`, epoch ms. */
    async pruneAttempts(until: number) {
      let removed: number;
      do {
        removed = (await write(() => removeEnded.run(until, pruneBatch))).changes;
      } while (removed === pruneBatch);
    },
  } satisfies Attempts & { pruneAttempts(until: number): Promise<void> };
}

/** The key of a counter's row. */
function rowOf({ key, group }: AttemptLimit): string {
  return group === undefined ? key : `${group}/${key}`;
}

/** The range of the keys of a group's rows: the lower bound, and the upper bound, which is excluded (`0` follows `/`). */
function rowsOf(group: string): [from: string, to: string] {
  return [`${group}/`, `${group}0`];
}

/**
 * Runs the steps of many callers in one transaction: so a flood of sign-ins, with two calls each, waits for a few writes instead
 * of hundreds. The steps run in the order of the calls; when the transaction fails, all of the calls fail.
 */
function createBatches(write: Connection['write']): <T>(step: () => T) => Promise<T> {
  let open: (() => unknown)[] = [];
  let underway: Promise<unknown[]> | undefined;

  return async <T>(step: () => T) => {
    if (underway === undefined || open.length >= callBatch) {
      const steps: (() => unknown)[] = [];
      const seal = () => {
        if (open === steps) underway = undefined;
      };
      open = steps;
      underway = write(() => {
        // No step joins a batch that has begun, even if it begins again because of a lock held elsewhere.
        seal();
        return steps.map((run) => run());
      });
      // Nor a batch that was given up before it began: the step would fail with the error of the others.
      underway.catch(seal);
    }
    const index = open.push(step) - 1;
    return (await underway)[index] as T;
  };
}
