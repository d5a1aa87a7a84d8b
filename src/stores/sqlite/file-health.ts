import { type BigIntStats, statfsSync, statSync } from 'node:fs';
import { dirname } from 'node:path';
import type Database from 'better-sqlite3';
import { Refusal } from '../../errors.ts';
import { onTicks } from '../../ticks.ts';
import { isDamage, isFull, isOfDisk, reasonOfFailure } from './failures.ts';
import { type LogEvents, LogSize, type LogState } from './log-size.ts';

/** Notifications about the file of a store, which is available at first. */
export interface FileEvents extends LogEvents {
  /** Called when the file becomes unavailable, and again when it is found to be gone. */
  onUnavailable?(reason: string): void;
  onAvailable?(): void;
}

/** Interval at which the paths are compared with the open files, and a store in doubt is tried, ms. */
const watchIntervalMs = 500;

/** Time after a recovery within which another failure counts as a relapse, ms. */
const relapseMs = 10_000;
/** Time that a store must work after a relapse before it counts as available, ms; otherwise relapses could flood the log. */
const steadyMs = 1_000;

/** Free space below which the disk counts as full, bytes: a tiny write alone may still fit into SQLite's log. */
const leastRoomBytes = 64 * 1024;

/** Reason why writes to a database may be missing at the next start. */
interface FileProblem {
  readonly reason: string;
  /** True if a file was certainly moved, deleted or replaced; false if that can't be told at present. */
  readonly isGone: boolean;
}

/** The reason why a store is in doubt, and how to find out whether it works again. */
interface Doubt extends FileProblem {
  readonly isFull: boolean;
  /** The call that failed because of damage, to be repeated until it succeeds; null: there was no damage. */
  readonly repeat: (() => void) | null;
}

/**
 * Watches the file of a store. The file is in doubt from the first call that fails because of the disk, or when its paths no
 * longer lead to it. It remains so until they do and a tiny write succeeds (one is tried twice a second); after damage, the
 * failed call must succeed, too.
 */
export class FileHealth {
  readonly #db: Database.Database;
  readonly #files: OpenFiles;
  readonly #events: FileEvents;
  readonly #log: LogSize;
  readonly #stopWatch: () => void;
  readonly #writeLittle: () => void;
  #doubt: Doubt | null = null;
  /** Time of the last recovery, by `performance.now()`. */
  #availableAt = Number.NEGATIVE_INFINITY;
  /** Time since which a file in doubt has worked, by `performance.now()`; null: not yet. */
  #wellSince: number | null = null;
  #hasRelapsed = false;

  /** Watches a database in write-ahead-log mode that was opened at `path`; see {@link OpenFiles}. */
  constructor(db: Database.Database, path: string, events: FileEvents = {}) {
    this.#db = db;
    this.#files = new OpenFiles(path, db.name);
    this.#events = events;
    this.#log = new LogSize(db, events);
    this.#writeLittle = tinyWrite(db);
    this.#stopWatch = onTicks(watchIntervalMs, () => this.#watch());
  }

  get logState(): LogState {
    return this.#log.state;
  }

  /** Called before each read. Throws `store_unavailable` while the file is gone, as its contents no longer count. */
  requirePresent(): void {
    if (this.#doubt?.isGone) throw refusalOf(this.#doubt);
  }

  /** Called last in each write's transaction. Throws `store_unavailable` if the next start wouldn't find the write. */
  requireInPlace(): void {
    const problem = this.#files.problem();
    if (problem === undefined) return;
    this.#enter({ ...problem, isFull: false, repeat: null });
    throw refusalOf(problem);
  }

  /** Throws `store_unavailable` while the file is in doubt. */
  requireAvailable(): void {
    if (this.#doubt !== null) throw refusalOf(this.#doubt);
  }

  /**
   * Notes the error of a call if the disk, the file or another process caused it; `repeat` repeats the call, changing nothing.
   */
  failed(error: unknown, repeat: () => void): void {
    if (!this.#db.open || !isOfDisk(error)) return;
    this.#enter({
      reason: reasonOfFailure(error),
      isGone: false,
      isFull: isFull(error),
      repeat: isDamage(error) ? repeat : null,
    });
  }

  stop(): void {
    this.#stopWatch();
  }

  /** True while the paths of the database and of its side files lead to the open files. */
  isInPlace(): boolean {
    return this.#files.problem() === undefined;
  }

  #watch(): void {
    const problem = this.#files.problem();
    if (problem !== undefined)
      this.#enter({ ...problem, isFull: false, repeat: this.#doubt?.repeat ?? null });
    else if (this.#doubt !== null) this.#try(this.#doubt);
    else this.#log.keepSmall(this.#files.logBytes());
  }

  #enter(doubt: Doubt): void {
    const before = this.#doubt;
    this.#wellSince = null;
    if (before === null) this.#hasRelapsed = performance.now() - this.#availableAt < relapseMs;
    // The first call that failed is repeated: others may read pages that are undamaged.
    this.#doubt =
      before === null || doubt.isGone ? doubt : { ...before, repeat: before.repeat ?? doubt.repeat };
    if (before === null || (doubt.isGone && before.reason !== doubt.reason))
      this.#events.onUnavailable?.(doubt.reason);
  }

  #try(doubt: Doubt): void {
    if (doubt.isFull) {
      this.#log.makeRoom(this.#files.logBytes());
      if (!hasRoom(this.#db.name)) return;
    }
    const error = diskErrorOf(doubt.repeat) ?? diskErrorOf(this.#writeLittle);
    const now = performance.now();
    if (error !== undefined) {
      this.#wellSince = null;
      this.#doubt = { ...doubt, reason: reasonOfFailure(error), isGone: false, isFull: isFull(error) };
      return;
    }
    this.#wellSince ??= now;
    if (this.#hasRelapsed && now - this.#wellSince < steadyMs) return;
    this.#doubt = null;
    this.#availableAt = now;
    this.#events.onAvailable?.();
  }
}

/** True if the disk has room for a write, or if that is unknown. Root may use the blocks that are reserved for it. */
function hasRoom(path: string): boolean {
  try {
    const { bsize, bavail, bfree } = statfsSync(dirname(path));
    return bsize * (process.getuid?.() === 0 ? bfree : bavail) >= leastRoomBytes;
  } catch {
    // Then the write itself has to show it.
    return true;
  }
}

/** Makes a call and returns its error if the disk caused it; any other error shows that the disk responds. */
function diskErrorOf(call: (() => void) | null): unknown {
  try {
    call?.();
  } catch (error) {
    if (isOfDisk(error)) return error;
  }
  return undefined;
}

function refusalOf({ reason }: Pick<FileProblem, 'reason'>): Refusal {
  return new Refusal('store_unavailable', { cause: new Error(reason) });
}

/** Builds a write that changes nothing and reaches the disk: SQLite writes the first page even for the same number. */
function tinyWrite(db: Database.Database): () => void {
  const write = db.transaction(() => {
    db.pragma(`user_version = ${db.pragma('user_version', { simple: true })}`);
  });
  return () => write.immediate();
}

/** The files to which the paths of a database led when it was opened. */
class OpenFiles {
  readonly #files: readonly OpenFile[];

  /**
   * Called when the database has been read in write-ahead-log mode, so that SQLite has all three of its files open. While it has,
   * no other process recreates them through SQLite. `path` may lead to `target` by symbolic links.
   */
  constructor(path: string, target: string) {
    this.#files = [path, `${target}-wal`, `${target}-shm`].flatMap((file, index) => {
      const found = look(file);
      return found === undefined ? [] : [{ path: file, suffix: ['', '-wal', '-shm'][index]!, ...found }];
    });
  }

  /** The reason why a path may not lead to the open file any more; undefined while every path does. */
  problem(): FileProblem | undefined {
    try {
      for (const file of this.#files) {
        const reason = problemOf(file, look(file.path));
        if (reason !== undefined) return { reason, isGone: true };
      }
      return undefined;
    } catch (error) {
      const { code = 'unknown' } = error as NodeJS.ErrnoException;
      return { reason: `the file can't be checked (${code})`, isGone: false };
    }
  }

  /** The length of the write-ahead log, bytes; 0 when there is none. */
  logBytes(): number {
    const log = this.#files.find(({ suffix }) => suffix === '-wal');
    return log === undefined
      ? 0
      : Number(statSync(log.path, { bigint: true, throwIfNoEntry: false })?.size ?? 0);
  }
}

interface OpenFile extends Pick<BigIntStats, 'dev' | 'ino'> {
  readonly path: string;
  readonly suffix: string;
}

/** Finds the file at a path; undefined when there is none. Numbers are bigints, as rounded inodes could look alike. */
function look(path: string): BigIntStats | undefined {
  try {
    return statSync(path, { bigint: true, throwIfNoEntry: false });
  } catch (error) {
    // A folder on the way was replaced by a file.
    if ((error as NodeJS.ErrnoException).code === 'ENOTDIR') return undefined;
    throw error;
  }
}

function problemOf({ suffix, dev, ino }: OpenFile, found: BigIntStats | undefined): string | undefined {
  const name = suffix === '' ? 'file' : `${suffix} file`;
  if (found === undefined)
    return `the ${name} was moved or deleted; put it back, or restore a backup and restart`;
  if (found.dev === dev && found.ino === ino) return undefined;
  return `the ${name} was replaced by another; put the original back, or restart to use the new one`;
}
