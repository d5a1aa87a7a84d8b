import type Database from 'better-sqlite3';

/** State of the write-ahead log of a database. */
export interface LogState {
  readonly bytes: number;
  /** Time for which a snapshot has kept the log from being emptied, ms; 0 while none does. */
  readonly heldMs: number;
}

/** Notifications about the log. */
export interface LogEvents {
  /** Called when the log has grown because a reader holds a snapshot, and again whenever it has doubled. */
  onLogHeld?(state: LogState): void;
  /** Called when the log is small again after {@link LogEvents.onLogHeld}. */
  onLogEmptied?(): void;
}

/** Size to which SQLite truncates the log when it starts over, bytes: about as much as it holds between two checkpoints. */
export const keptLogBytes = 4 * 1024 * 1024;

/** Size from which the log is emptied without waiting for the next write, bytes; if that fails, a snapshot holds it. */
const largeBytes = 2 * keptLogBytes;
/** Size from which a held log is worth a warning, bytes; a further warning follows whenever the size has doubled. */
const firstWarningBytes = 4 * keptLogBytes;
/** Minimum interval between attempts to empty the log, ms: each blocks the event loop for as long as the disk takes. */
const attemptIntervalMs = 2_000;

/**
 * Keeps the write-ahead log small. By itself, SQLite empties it at about 4 MiB, but not while anyone holds a snapshot: then the
 * log grows with every write, and its file stays large until the first write after the snapshot's release.
 */
export class LogSize {
  readonly #db: Database.Database;
  readonly #events: LogEvents;
  #bytes = 0;
  #heldSince: number | null = null;
  #attemptedAt = Number.NEGATIVE_INFINITY;
  #warningBytes = firstWarningBytes;

  constructor(db: Database.Database, events: LogEvents) {
    this.#db = db;
    this.#events = events;
  }

  get state(): LogState {
    return {
      bytes: this.#bytes,
      heldMs: this.#heldSince === null ? 0 : performance.now() - this.#heldSince,
    };
  }

  /** Called at intervals with the length of the log, bytes; tries to empty a large log. */
  keepSmall(bytes: number): void {
    this.#bytes = bytes;
    if (bytes < largeBytes) {
      this.#emptied();
      return;
    }
    const now = performance.now();
    if (now - this.#attemptedAt < attemptIntervalMs) return;
    this.#attemptedAt = now;
    this.#tryToEmpty();
  }

  /** Called at intervals with the length of the log, bytes, while the disk is full; tries to empty the log, to make room. */
  makeRoom(bytes: number): void {
    this.#bytes = bytes;
    if (bytes > 0) this.#tryToEmpty();
  }

  #tryToEmpty(): void {
    try {
      if (this.#isHeld()) this.#held(performance.now());
      else this.#emptied();
    } catch {
      // A failing disk shows at the next write, and this isn't the place to judge it.
    }
  }

  #isHeld(): boolean {
    const { log, checkpointed } = checkpoint(this.#db, 'PASSIVE');
    return log > checkpointed || checkpoint(this.#db, 'TRUNCATE').busy === 1;
  }

  #held(now: number): void {
    this.#heldSince ??= now;
    if (this.#bytes < this.#warningBytes) return;
    this.#warningBytes = 2 * this.#bytes;
    this.#events.onLogHeld?.(this.state);
  }

  #emptied(): void {
    this.#heldSince = null;
    if (this.#warningBytes === firstWarningBytes) return;
    this.#warningBytes = firstWarningBytes;
    this.#events.onLogEmptied?.();
  }
}

/**
 * Copies log pages into the database. Returns `busy` (1 if it gave up), and how many pages are in the `log` and `checkpointed`.
 */
export function checkpoint(db: Database.Database, mode: 'PASSIVE' | 'TRUNCATE') {
  const [result] = db.pragma(`wal_checkpoint(${mode})`) as [
    { busy: 0 | 1; log: number; checkpointed: number },
  ];
  return result;
}
