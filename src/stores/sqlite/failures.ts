import Database from 'better-sqlite3';
import { Refusal } from '../../errors.ts';

/** The error to throw: `store_unavailable` for a failing or closed store; a violated constraint is a bug, and passed on. */
export function asRefusal(db: Database.Database, error: unknown): unknown {
  const isMistake = error instanceof Database.SqliteError && error.code.startsWith('SQLITE_CONSTRAINT');
  const isStore = error instanceof Database.SqliteError || !db.open;
  return isStore && !isMistake ? new Refusal('store_unavailable', { cause: error }) : error;
}

/** True if another process holds a lock. */
export function isBusy(error: unknown): boolean {
  return codeOf(error)?.startsWith('SQLITE_BUSY') ?? false;
}

/** Error codes that the disk, the file or another process can cause, but no request, whatever it asks for. */
const diskCodes = [
  'SQLITE_FULL',
  'SQLITE_IOERR',
  'SQLITE_READONLY',
  'SQLITE_CANTOPEN',
  'SQLITE_CORRUPT',
  'SQLITE_NOTADB',
  'SQLITE_PERM',
  'SQLITE_PROTOCOL',
  'SQLITE_BUSY',
  'SQLITE_LOCKED',
];

/** True if the disk, the file or another process caused the error, so that other calls may fail too. */
export function isOfDisk(error: unknown): boolean {
  return isOneOf(diskCodes, error);
}

/** Error codes of contents that can't be read or make no sense. Writes elsewhere in the file may succeed all the same. */
const damageCodes = [
  'SQLITE_CORRUPT',
  'SQLITE_NOTADB',
  'SQLITE_IOERR_READ',
  'SQLITE_IOERR_SHORT_READ',
  'SQLITE_IOERR_CORRUPTFS',
  'SQLITE_IOERR_DATA',
];

/** True if contents are damaged: only the call that failed can show that they are readable again. */
export function isDamage(error: unknown): boolean {
  return isOneOf(damageCodes, error);
}

/** True if the disk is full. */
export function isFull(error: unknown): boolean {
  return isOneOf(['SQLITE_FULL'], error);
}

/** The reason of a failure for the log and `/readyz`: the code, and SQLite's words for it. */
export function reasonOfFailure(error: unknown): string {
  const code = codeOf(error);
  const { message } = error as Error;
  if (isBusy(error)) return `${code}: locked by another process`;
  return code === undefined ? message : `${code}: ${message}`;
}

function isOneOf(codes: readonly string[], error: unknown): boolean {
  const found = codeOf(error);
  return found !== undefined && codes.some((code) => found === code || found.startsWith(`${code}_`));
}

function codeOf(error: unknown): string | undefined {
  return error instanceof Database.SqliteError ? error.code : undefined;
}
