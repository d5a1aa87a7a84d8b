import { type BigIntStats, statSync } from 'node:fs';

/** Reason why writes to a database may not be there at the next start. */
export interface FileProblem {
  readonly reason: string;
  /** True if a file was certainly moved, deleted or replaced; false if that can't be told now. */
  readonly isGone: boolean;
}

/** The files of a database as its paths led to them when it was opened. */
export class OpenFiles {
  readonly #files: readonly OpenFile[];

  /**
   * Called when the database has been read in write-ahead-log mode, so that SQLite has all three of its files open. As
   * long as it does, no other program of SQLite's recreates them. `path` may lead to `target` by symbolic links.
   */
  constructor(path: string, target: string) {
    this.#files = [path, `${target}-wal`, `${target}-shm`].flatMap((file, index) => {
      const found = look(file);
      return found === undefined ? [] : [{ path: file, suffix: ['', '-wal', '-shm'][index]!, ...found }];
    });
  }

  /** Undefined while every path still leads to the file that is open. */
  problem(): FileProblem | undefined {
    try {
      for (const file of this.#files) {
        const reason = problemOf(file, look(file.path));
        if (reason !== undefined) return { reason, isGone: true };
      }
      return undefined;
    } catch (error) {
      const { code = 'unknown' } = error as NodeJS.ErrnoException;
      return { reason: `the file can't be found (${code})`, isGone: false };
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

/** The file at a path, undefined when there is none; with 64 bits, or two inodes could look like one. */
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
  return `another ${name} is in its place; put the former back, or restart to use that one`;
}
