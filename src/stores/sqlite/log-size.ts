import type Database from 'better-sqlite3';
import type { FileEvents, LogState } from './file-events.ts';

/** Size to which SQLite truncates the log when it starts over, bytes: about its contents between two checkpoints. */
export const keptLogBytes = 4 * 1024 * 1024;

/** Size from which the log is emptied without waiting for the next write, or found to be held, bytes. */
const largeBytes = 2 * keptLogBytes;
/** Size from which a held log is worth a warning, bytes; another one whenever the size has doubled. */
const firstWarningBytes = 4 * keptLogBytes;
/** Interval of attempts, ms: each blocks the event loop for as long as the disk takes. */
const attemptIntervalMs = 2_000;

/**
 * Keeps the write-ahead log small. SQLite empties it at about 4 MiB by itself, but not while anyone holds a snapshot:
 * then it grows with every write, and its file keeps the size until the next write after that.
 */
export class LogSize {
  readonly #db: Database.Database;
  readonly #events: Pick<FileEvents, 'onLogHeld' | 'onLogEmptied'>;
  #bytes = 0;
  #heldSince: number | null = null;
  #attemptedAt = Number.NEGATIVE_INFINITY;
  #warningBytes = firstWarningBytes;

  constructor(db: Database.Database, events: Pick<FileEvents, 'onLogHeld' | 'onLogEmptied'>) {
    this.#db = db;
    this.#events = events;
  }

  get state(): LogState {
    return {
      bytes: this.#bytes,
      heldMs: this.#heldSince === null ? 0 : performance.now() - this.#heldSince,
    };
  }

  /** Called at intervals with its length. */
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

  /** Called at intervals with its length while the disk is full: it may be full of a log that is no longer needed. */
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
    const [all] = this.#checkpoint('PASSIVE');
    if (all === undefined || all.log > all.checkpointed) return true;
    return this.#checkpoint('TRUNCATE')[0]?.busy === 1;
  }

  #checkpoint(mode: 'PASSIVE' | 'TRUNCATE'): readonly Checkpoint[] {
    return this.#db.pragma(`wal_checkpoint(${mode})`) as readonly Checkpoint[];
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

/** SQLite's response: whether it had to give up, and of how many pages in the log how many are in the database. */
interface Checkpoint {
  readonly busy: 0 | 1;
  readonly log: number;
  readonly checkpointed: number;
}
