import { type BigIntStats, closeSync, openSync, readdirSync, readSync, statSync } from 'node:fs';

/** Length of a database's header (SQLite file format §1.3). */
export const headerBytes = 100;
/** Offset at which the header states the kind of journal: 1 is a rollback journal, 2 a write-ahead log. */
const writeVersionOffset = 18;
const rollbackJournal = 1;

/**
 * The reason why a database can't be opened with the write-ahead log beside it; undefined when there is none, or the two may
 * belong together. SQLite would take the pages of the log for those of the database, whichever it is: it would turn a backup that
 * was put in place of a file whose process was killed into the former file, or into neither.
 *
 * It is certain where the database says that it has no log: SQLite says so, on disk, before it begins one and after it has
 * removed one, so no kill and no power cut leads there. That is how Postern leaves a backup, and a file that it has closed as the
 * last one. A copy of a file in use says otherwise, and is not told apart.
 */
export function problemOfLog(path: string): string | undefined {
  const log = lookAtLog(path);
  // Its own log was there before it was opened; and closing a second descriptor would drop this process's locks.
  if (log === undefined || isOpenHere(path)) return undefined;
  if (readHeader(path)[writeVersionOffset] !== rollbackJournal) return undefined;
  // Another process may just be opening or closing it: then this log is another one than before.
  const stillThere = lookAtLog(path);
  if (stillThere?.ino !== log.ino || stillThere.birthtimeNs !== log.birthtimeNs) return undefined;
  return `has the write-ahead log of another file beside it (${path}-wal), as after a restore that left it behind; move it and ${path}-shm away`;
}

/** The reason why a new database can't be created at `path`: the content of a log would be lost. */
export function problemOfLogAlone(path: string): string | undefined {
  if (lookAtLog(path) === undefined) return undefined;
  return `is missing, but its write-ahead log exists (${path}-wal): put the file back, or move the log away`;
}

/** The log; undefined when it is missing or empty. */
function lookAtLog(path: string): BigIntStats | undefined {
  const found = statSync(`${path}-wal`, { bigint: true, throwIfNoEntry: false });
  return found !== undefined && found.size > 0n ? found : undefined;
}

/** Reads the header of a database; of a shorter file, all there is. */
export function readHeader(file: string): Buffer {
  const header = Buffer.alloc(headerBytes);
  const descriptor = openSync(file, 'r');
  try {
    return header.subarray(0, readSync(descriptor, header));
  } finally {
    closeSync(descriptor);
  }
}

/** True if this process has the file open, as far as the system tells: on Linux. */
function isOpenHere(path: string): boolean {
  const { dev, ino } = statSync(path, { bigint: true });
  const folder = '/proc/self/fd';
  let descriptors: readonly string[];
  try {
    descriptors = readdirSync(folder);
  } catch {
    return false;
  }
  return descriptors.some((descriptor) => {
    try {
      const open = statSync(`${folder}/${descriptor}`, { bigint: true });
      return open.dev === dev && open.ino === ino;
    } catch {
      // Closed in the meantime, as the one that listed them is.
      return false;
    }
  });
}
