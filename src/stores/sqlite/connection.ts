import { setImmediate as nextTurn, setTimeout as sleep } from 'node:timers/promises';
import type Database from 'better-sqlite3';
import { Refusal } from '../../errors.ts';
import { asRefusal, isBusy } from './failures.ts';
import type { FileHealth } from './file-health.ts';

/** Time that a write waits for other processes before it is refused, ms. */
const writeTimeoutMs = 2_000;

/** A SQLite connection with the rules of all stores for locks and failures. */
export interface Connection {
  readonly db: Database.Database;
  /** Runs `step`, which only reads. Throws `store_unavailable` when the file can't be read, or is gone. */
  read<T>(step: () => T): T;
  /**
   * Runs `step` in one immediate transaction, as a whole or not at all. Waits up to 2 s for other processes, without blocking the
   * event loop. Rejects with `store_unavailable`, also when the file is no longer where it was opened, or with the error of
   * `step`.
   */
  write<T>(step: () => T): Promise<T>;
  /** A number that changes after a commit by another connection, and at once by {@link Connection.noteChange}. */
  changes(): number;
  /** Counts a change by this connection; called within the step that makes it. */
  noteChange(): void;
  /** Runs `step`, which reads, for a probe. Rejects with `store_unavailable` when that fails, and while the file is in doubt. */
  ping(step: () => unknown): Promise<void>;
  /** Waits for writes in progress, then closes the file. */
  close(): Promise<void>;
}

/** Options of a connection. */
export interface ConnectionOptions {
  /**
   * Set if commits of other connections are checked for once per turn of the event loop, instead of at each call. Everything that
   * is read from sockets in a turn was sent before the turn began, so a request that follows another client's acknowledged change
   * still sees it; and a busy process polls far less. Default false.
   */
  readonly pollsOncePerTurn?: boolean;
  /** Health of the file: it is notified of failures, and refuses calls when the file is gone. Default: none. */
  readonly health?: FileHealth;
  /** Closes the database; default: `db.close()` alone. */
  readonly closeDatabase?: (db: Database.Database) => void;
}

/** Applies the rules for locks and failures to an open database. */
export function createConnection(db: Database.Database, options: ConnectionOptions = {}): Connection {
  const { pollsOncePerTurn = false, health, closeDatabase = () => db.close() } = options;
  const read = <T>(step: () => T): T => {
    health?.requirePresent();
    try {
      return step();
    } catch (error) {
      health?.failed(error, step);
      throw asRefusal(db, error);
    }
  };
  const counter = new ChangeCounter(db, read, pollsOncePerTurn);
  const writer = new Writer(db, health);
  return {
    db,
    read,
    write: (step) => writer.write(step),
    changes() {
      health?.requirePresent();
      return counter.current();
    },
    noteChange: () => counter.increment(),
    async ping(step) {
      read(step);
      health?.requireAvailable();
    },
    async close() {
      await writer.lastWrite;
      health?.stop();
      closeDatabase(db);
    },
  };
}

/**
 * Creates a reader of {@link Connection.changes}; while the file can't be read, the last number counts for `staleIfErrorMs()`.
 */
export function createVersion({ changes }: Connection, staleIfErrorMs: () => number): () => number {
  let last = changes();
  let lastCheckAt = performance.now();
  return () => {
    try {
      last = changes();
      lastCheckAt = performance.now();
    } catch (error) {
      if (performance.now() - lastCheckAt >= staleIfErrorMs()) throw error;
    }
    return last;
  };
}

class ChangeCounter {
  readonly #read: Connection['read'];
  readonly #pollsOncePerTurn: boolean;
  readonly #dataVersion: Database.Statement<[], number>;
  #seenDataVersion: number | undefined;
  #count = 0;
  #hasPolled = false;
  readonly #poll = () => this.#dataVersion.get();
  readonly #endTurn = () => {
    this.#hasPolled = false;
  };

  constructor(db: Database.Database, read: Connection['read'], pollsOncePerTurn: boolean) {
    this.#read = read;
    this.#pollsOncePerTurn = pollsOncePerTurn;
    this.#dataVersion = db.prepare<[], number>('PRAGMA data_version').pluck();
    this.#seenDataVersion = this.#dataVersion.get();
  }

  increment(): void {
    this.#count += 1;
  }

  current(): number {
    if (this.#hasPolled) return this.#count;
    const dataVersion = this.#read(this.#poll);
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
  readonly #health: FileHealth | undefined;
  readonly #transaction: Database.Transaction<(step: () => unknown) => unknown>;
  readonly #attemptOnly: Database.Transaction<(step: () => unknown) => never>;
  /** Resolves when no write is in progress. */
  lastWrite: Promise<unknown> = Promise.resolve();

  constructor(db: Database.Database, health: FileHealth | undefined) {
    this.#db = db;
    this.#health = health;
    this.#transaction = db.transaction((step: () => unknown) => {
      const result = step();
      // As the last step: a file that is moved away after this contains the write.
      health?.requireInPlace();
      return result;
    });
    this.#attemptOnly = db.transaction((step: () => unknown): never => {
      step();
      throw undone;
    });
  }

  write<T>(step: () => T): Promise<T> {
    const deadline = performance.now() + writeTimeoutMs;
    // One after another: a lock held elsewhere then costs one short wait at a time, not one for each caller.
    const result = this.lastWrite.then(() => this.#attempt(step, deadline));
    // And each in its own turn of the event loop, so that other work gets done among many writes.
    this.lastWrite = result.then(
      () => nextTurn(),
      () => nextTurn(),
    );
    return result;
  }

  async #attempt<T>(step: () => T, deadline: number): Promise<T> {
    for (;;) {
      if (performance.now() > deadline)
        throw new Refusal('store_unavailable', { cause: new Error('locked') });
      try {
        this.#health?.requirePresent();
        return this.#transaction.immediate(step) as T;
      } catch (error) {
        if (!isBusy(error)) throw this.#failed(error, step);
        // Random, so that two processes don't collide again and again.
        await sleep(5 + Math.random() * 20);
        if (performance.now() > deadline) throw this.#failed(error, step);
      }
    }
  }

  #failed(error: unknown, step: () => unknown): unknown {
    this.#health?.failed(error, () => this.#repeat(step));
    return asRefusal(this.#db, error);
  }

  /** Runs `step` in a transaction once more, as after a lock, and rolls it back. */
  #repeat(step: () => unknown): void {
    try {
      this.#attemptOnly.immediate(step);
    } catch (error) {
      if (error !== undone) throw error;
    }
  }
}

/** Thrown to roll back a transaction. */
const undone = new Error('undone');
