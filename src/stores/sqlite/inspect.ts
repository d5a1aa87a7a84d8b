import { accessSync, constants, realpathSync, statSync } from 'node:fs';
import { dirname } from 'node:path';
import { headerBytes, problemOfLog, problemOfLogAlone, readHeader } from './leftover-log.ts';

/** The contents of a file; also the name of the folder with its migrations. */
export type StoreKind = 'records' | 'sessions';

/** Application ids ("PSTR", "PSTS"), which mark a file as Postern's, so that one kind is never mistaken for the other. */
export const applicationIds: Readonly<Record<StoreKind, number>> = {
  records: 0x50535452,
  sessions: 0x50535453,
};

/** The reason why a file that SQLite can't read is refused. */
export const notDatabase = 'is corrupt or not an SQLite database';

/** Offset of the application id in the header of a database (SQLite file format §1.3). */
const applicationIdOffset = 68;
const magic = 'SQLite format 3\0';

/**
 * The reason why the file of a store can't be opened, as far as the file system and the header show; undefined if it can be
 * opened or created. Changes nothing. Must not be called while this process has the file open: closing a second descriptor of an
 * open database drops the locks on it.
 */
export function problemOfDatabaseFile(file: string, kind: StoreKind): string | undefined {
  try {
    const found = statSync(file, { throwIfNoEntry: false });
    if (found === undefined) return problemOfNewFile(file);
    if (found.isDirectory()) return 'is a folder';
    const target = realpathSync(file);
    assertUsable(target);
    if (found.size === 0) return undefined;
    return problemOfHeader(readHeader(file), kind) ?? problemOfLog(target);
  } catch (error) {
    return `can't be opened (${(error as NodeJS.ErrnoException).code ?? 'unknown'})`;
  }
}

/** The reason why a new file can't be created; undefined if it can. Missing folders are only created at start. */
function problemOfNewFile(file: string): string | undefined {
  let folder = dirname(file);
  while (statSync(folder, { throwIfNoEntry: false }) === undefined && folder !== dirname(folder))
    folder = dirname(folder);
  if (!statSync(folder).isDirectory()) return `can't be created: ${folder} is a file`;
  accessSync(folder, constants.W_OK | constants.X_OK);
  return problemOfLogAlone(file);
}

/** Throws Node's error for a file or folder that can't be read and written: SQLite would silently open the file read-only. */
export function assertUsable(path: string): void {
  accessSync(path, constants.R_OK | constants.W_OK);
  accessSync(dirname(path), constants.R_OK | constants.W_OK | constants.X_OK);
}

function problemOfHeader(header: Buffer, kind: StoreKind): string | undefined {
  if (header.length < headerBytes || header.toString('latin1', 0, magic.length) !== magic) return notDatabase;
  const id = header.readUInt32BE(applicationIdOffset);
  // The application id may still be only in the write-ahead log.
  if (id === 0 || id === applicationIds[kind]) return undefined;
  return problemOfKind(id, kind);
}

/** The reason why a file is refused for its application id, which is set, but not to that of `kind`. */
export function problemOfKind(applicationId: unknown, kind: StoreKind): string {
  const other = (Object.keys(applicationIds) as StoreKind[]).find(
    (name) => applicationIds[name] === applicationId,
  );
  return other === undefined ? 'belongs to another program' : `holds ${other}, not ${kind}`;
}
