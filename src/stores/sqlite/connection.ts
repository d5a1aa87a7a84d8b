import { setImmediate as nextTurn, setTimeout as sleep } from 'node:timers/promises';
import Database from 'better-sqlite3';
import { Refusal } from '../../errors.ts';

/** How long a write waits for other processes before it is refused. */
const writeTimeoutMs = 2_000;

/** One SQLite connection, with the rules of all stores for locks and failures. */
export interface Connection {
  readonly db: Database.Database;
  /** Runs `step`, which only reads. Throws `store_unavailable` when the file can't be read. */
  read<T>(step: () => T): T;
  /**
   * Runs `step` in one immediate transaction: whole or not at all. Waits up to 2 s for other processes, without
   * blocking the event loop. Rejects `store_unavailable`, or with what `step` throws.
   */
  write<T>(step: () => T): Promise<T>;
  /** A number that changes after another connection has committed, and with {@link Connection.noteChange} at once. */
  changes(): number;
  /** Counts a change by this connection; called within the step that makes it. */
  noteChange(): void;
  /** Waits for writes in progress, then closes the file. */
  close(): Promise<void>;
}

/**
 * Applies the rules for locks and failures to an open database. `pollsOncePerTurn`: whether commits of other connections
 * are checked for once in a turn of the event loop, instead of at each call. Everything read from sockets in one turn was
 * sent before it, so a request that follows another client's acknowledged change still sees it, and a busy process polls
 * far less.
 */
export function createConnection(db: Database.Database, pollsOncePerTurn = false): Connection {
  const counter = new ChangeCounter(db, pollsOncePerTurn);
  const writer = new Writer(db);
  return {
    db,
    read(step) {
      try {
        return step();
      } catch (error) {
        throw asRefusal(db, error);
      }
    },
    write: (step) => writer.write(step),
    changes: () => counter.current(),
    noteChange: () => counter.increment(),
    async close() {
      await writer.drained();
      db.close();
    },
  };
}

class ChangeCounter {
  readonly #db: Database.Database;
  readonly #pollsOncePerTurn: boolean;
  readonly #dataVersion: Database.Statement<[], number>;
  #seenDataVersion: number | undefined;
  #count = 0;
  #hasPolled = false;
  readonly #endTurn = () => {
    this.#hasPolled = false;
  };

  constructor(db: Database.Database, pollsOncePerTurn: boolean) {
    this.#db = db;
    this.#pollsOncePerTurn = pollsOncePerTurn;
    this.#dataVersion = db.prepare<[], number>('PRAGMA data_version').pluck();
    this.#seenDataVersion = this.#dataVersion.get();
  }

  increment(): void {
    this.#count += 1;
  }

  current(): number {
    if (this.#hasPolled) return this.#count;
    let dataVersion: number | undefined;
    try {
      dataVersion = this.#dataVersion.get();
    } catch (error) {
      throw asRefusal(this.#db, error);
    }
    if (dataVersion !== this.#seenDataVersion) {
      this.#seenDataVersion = dataVersion;
      this.#count += 1;
    }
    if (this.#pollsOncePerTurn) {
      this.#hasPolled = true;
      setImmediate(this.#endTurn);
    }
    return this.#count;
  }
}

class Writer {
  readonly #db: Database.Database;
  readonly #transaction: Database.Transaction<(step: () => unknown) => unknown>;
  #lastWrite: Promise<unknown> = Promise.resolve();

  constructor(db: Database.Database) {
    this.#db = db;
    this.#transaction = db.transaction((step: () => unknown) => step());
  }

  write<T>(step: () => T): Promise<T> {
    const deadline = performance.now() + writeTimeoutMs;
    // One after another: a lock held elsewhere then costs one short wait at a time, not one for each caller.
    const result = this.#lastWrite.then(() => this.#attempt(step, deadline));
    // And each in its own turn of the event loop, so that other work gets done among many writes.
    this.#lastWrite = result.then(
      () => nextTurn(),
      () => nextTurn(),
    );
    return result;
  }

  /** Resolves when no write is in progress. */
  drained(): Promise<unknown> {
    return this.#lastWrite;
  }

  async #attempt<T>(step: () => T, deadline: number): Promise<T> {
    for (;;) {
      if (performance.now() > deadline)
        throw new Refusal('store_unavailable', { cause: new Error('locked') });
      try {
        return this.#transaction.immediate(step) as T;
      } catch (error) {
        if (!isBusy(error)) throw asRefusal(this.#db, error);
        // Random, so that two processes don't collide again and again.
        await sleep(5 + Math.random() * 20);
        if (performance.now() > deadline) throw asRefusal(this.#db, error);
      }
    }
  }
}

function isBusy(error: unknown): boolean {
  return error instanceof Database.SqliteError && error.code.startsWith('SQLITE_BUSY');
}

/** A failing or closed store is `store_unavailable`; a violated constraint is our own mistake and is passed on. */
function asRefusal(db: Database.Database, error: unknown): unknown {
  const isMistake = error instanceof Database.SqliteError && error.code.startsWith('SQLITE_CONSTRAINT');
  const isStore = error instanceof Database.SqliteError || !db.open;
  return isStore && !isMistake ? new Refusal('store_unavailable', { cause: error }) : error;
}
