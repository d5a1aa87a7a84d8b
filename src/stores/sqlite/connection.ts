import { setImmediate as nextTurn, setTimeout as sleep } from 'node:timers/promises';
import Database from 'better-sqlite3';
import { Refusal } from '../../errors.ts';

/** How long a write waits for other processes before it is refused. */
const writeTimeoutMs = 2_000;

/** One SQLite connection with the rules of all stores for locks and failures. */
export interface Connection {
  readonly db: Database.Database;
  /** Runs `step`, which only reads. Throws `store_unavailable` when the file can't be read. */
  read<T>(step: () => T): T;
  /**
   * Runs `step` in one immediate transaction: whole or not at all. Waits up to 2 s for other processes, without
   * blocking the event loop. Rejects `store_unavailable`, or with what `step` throws.
   */
  write<T>(step: () => T): Promise<T>;
  /** A number that is another one after another connection has committed, or {@link Connection.noteChange} at once. */
  changes(): number;
  /** Counts a change by this connection; called within the step that makes it. */
  noteChange(): void;
  /** Waits for writes under way, then closes the file. */
  close(): Promise<void>;
}

/**
 * Puts the rules for locks and failures around an open database. `asksOncePerTurn`: whether other connections have
 * committed is asked once in a turn of the event loop. What has been read from sockets in one turn had been sent before
 * it, so a request that follows somebody else's acknowledged change still sees it, and a busy process asks far less.
 */
export function createConnection(db: Database.Database, asksOncePerTurn = false): Connection {
  const transaction = db.transaction((step: () => unknown) => step());
  const dataVersion = db.prepare<[], number>('PRAGMA data_version').pluck();
  let seenDataVersion = dataVersion.get();
  let changeCount = 0;
  let isAsked = false;
  const endTurn = () => {
    isAsked = false;
  };
  let lastWrite: Promise<unknown> = Promise.resolve();

  async function attempt<T>(step: () => T, deadline: number): Promise<T> {
    for (;;) {
      if (performance.now() > deadline)
        throw new Refusal('store_unavailable', { cause: new Error('locked') });
      try {
        return transaction.immediate(step) as T;
      } catch (error) {
        if (!isBusy(error)) throw asRefusal(db, error);
        // Random, so that two processes don't meet again and again.
        await sleep(5 + Math.random() * 20);
        if (performance.now() > deadline) throw asRefusal(db, error);
      }
    }
  }

  return {
    db,
    read(step) {
      try {
        return step();
      } catch (error) {
        throw asRefusal(db, error);
      }
    },
    write(step) {
      const deadline = performance.now() + writeTimeoutMs;
      // One after another: a lock held elsewhere then costs one short wait at a time, not one for each caller.
      const result = lastWrite.then(() => attempt(step, deadline));
      // And each in its own turn of the event loop: others get theirs while many write.
      lastWrite = result.then(
        () => nextTurn(),
        () => nextTurn(),
      );
      return result;
    },
    changes() {
      if (isAsked) return changeCount;
      let current: number | undefined;
      try {
        current = dataVersion.get();
      } catch (error) {
        throw asRefusal(db, error);
      }
      if (current !== seenDataVersion) {
        seenDataVersion = current;
        changeCount += 1;
      }
      if (asksOncePerTurn) {
        isAsked = true;
        setImmediate(endTurn);
      }
      return changeCount;
    },
    noteChange() {
      changeCount += 1;
    },
    async close() {
      await lastWrite;
      db.close();
    },
  };
}

function isBusy(error: unknown): boolean {
  return error instanceof Database.SqliteError && error.code.startsWith('SQLITE_BUSY');
}

/** A failing or closed store is `store_unavailable`; a broken constraint is a mistake of ours and stays one. */
function asRefusal(db: Database.Database, error: unknown): unknown {
  const isMistake = error instanceof Database.SqliteError && error.code.startsWith('SQLITE_CONSTRAINT');
  const isStore = error instanceof Database.SqliteError || !db.open;
  return isStore && !isMistake ? new Refusal('store_unavailable', { cause: error }) : error;
}
