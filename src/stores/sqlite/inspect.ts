import { accessSync, closeSync, constants, openSync, readSync, realpathSync, statSync } from 'node:fs';
import { dirname } from 'node:path';
import { problemOfLog, problemOfLogAlone } from './leftover-log.ts';
import { applicationIds, notDatabase, problemOfKind, type StoreKind } from './store-kind.ts';

/** Length of the header, and the offset of the number that each program sets for itself (SQLite file format §1.3). */
const headerBytes = 100;
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
    accessSync(file, constants.R_OK | constants.W_OK);
    const target = realpathSync(file);
    accessSync(dirname(target), constants.R_OK | constants.W_OK | constants.X_OK);
    if (found.size === 0) return undefined;
    return problemOfHeader(readHeader(file), kind) ?? problemOfLog(target);
  } catch (error) {
    return `can't be opened (${(error as NodeJS.ErrnoException).code ?? 'unknown'})`;
  }
}

/** Missing folders are created at start; the existing part of the path must be a writable folder. */
function problemOfNewFile(file: string): string | undefined {
  let folder = dirname(file);
  while (statSync(folder, { throwIfNoEntry: false }) === undefined && folder !== dirname(folder))
    folder = dirname(folder);
  if (!statSync(folder).isDirectory()) return `can't be created: ${folder} is a file`;
  accessSync(folder, constants.W_OK | constants.X_OK);
  return problemOfLogAlone(file);
}

function readHeader(file: string): Buffer {
  const header = Buffer.alloc(headerBytes);
  const descriptor = openSync(file, 'r');
  try {
    return header.subarray(0, readSync(descriptor, header));
  } finally {
    closeSync(descriptor);
  }
}

function problemOfHeader(header: Buffer, kind: StoreKind): string | undefined {
  if (header.length < headerBytes || header.toString('latin1', 0, magic.length) !== magic) return notDatabase;
  const id = header.readUInt32BE(applicationIdOffset);
  // The number may still be only in the write-ahead log.
  if (id === 0 || id === applicationIds[kind]) return undefined;
  return problemOfKind(id, kind);
}
