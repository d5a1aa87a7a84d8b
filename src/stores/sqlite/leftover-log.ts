import { type BigIntStats, closeSync, openSync, readdirSync, readSync, statSync } from 'node:fs';

/** Length of a database's header (SQLite file format §1.3). */
export const headerBytes = 100;
/** Offset at which the header states the kind of journal: 1 is a rollback journal, 2 a write-ahead log. */
const writeVersionOffset = 18;
const rollbackJournal = 1;

/**
 * The reason why a database can't be opened with the write-ahead log beside it; undefined when there is no log, or it may belong
 * to the database. SQLite applies a log to whichever database is beside it: a backup put in place of a file whose process was
 * killed would turn back into that file, or be corrupted.
 *
 * The log certainly belongs to another file if the header of the database says that it has none. SQLite marks the header on disk
 * before it begins a log, and only resets it after removing the log, so neither a kill nor a power cut leaves a log beside such a
 * header. Backups by Postern have it, and files that Postern closed while no other process had them open. A copy of a file in use
 * does not, so the log of another file beside it is not detected.
 */
export function problemOfLog(path: string): string | undefined {
  const log = lookAtLog(path);
  // A file that is open here has a log of its own, and reading its header would drop this process's locks on it.
  if (log === undefined || isOpenHere(path)) return undefined;
  if (readHeader(path)[writeVersionOffset] !== rollbackJournal) return undefined;
  // Another process may just be opening or closing the database: then this is a different log.
  const stillThere = lookAtLog(path);
  if (stillThere?.ino !== log.ino || stillThere.birthtimeNs !== log.birthtimeNs) return undefined;
  return `has the write-ahead log of another file beside it (${path}-wal), as after a restore that left it behind; move it and ${path}-shm away`;
}

/** The reason why no database can be created at `path`: the contents of its log would be lost; undefined if there is no log. */
export function problemOfLogAlone(path: string): string | undefined {
  if (lookAtLog(path) === undefined) return undefined;
  return `is missing, but its write-ahead log exists (${path}-wal): put the file back, or move the log away`;
}

/** The log; undefined when it is missing or empty. */
function lookAtLog(path: string): BigIntStats | undefined {
  const found = statSync(`${path}-wal`, { bigint: true, throwIfNoEntry: false });
  return found !== undefined && found.size > 0n ? found : undefined;
}

/** Reads the header of a database; returns the whole of a shorter file. */
export function readHeader(file: string): Buffer {
  const header = Buffer.alloc(headerBytes);
  const descriptor = openSync(file, 'r');
  try {
    return header.subarray(0, readSync(descriptor, header));
  } finally {
    closeSync(descriptor);
  }
}

/** True if this process has the file open; always false where there is no `/proc`, as on macOS. */
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
      // Closed in the meantime, as the descriptor of the listing itself is.
      return false;
    }
  });
}
