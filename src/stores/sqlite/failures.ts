import Database from 'better-sqlite3';
import { Refusal } from '../../errors.ts';

/** A failing or closed store is `store_unavailable`; a violated constraint is our own mistake and is passed on. */
export function asRefusal(db: Database.Database, error: unknown): unknown {
  const isMistake = error instanceof Database.SqliteError && error.code.startsWith('SQLITE_CONSTRAINT');
  const isStore = error instanceof Database.SqliteError || !db.open;
  return isStore && !isMistake ? new Refusal('store_unavailable', { cause: error }) : error;
}

/** True if another process holds a lock. */
export function isBusy(error: unknown): boolean {
  return codeOf(error)?.startsWith('SQLITE_BUSY') ?? false;
}

/** Codes that the disk, the file or another process can cause, and no request, whatever it asks for. */
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

/** Contents that can't be read or make no sense. Writing elsewhere in the file may go on, and says nothing about them. */
const damageCodes = [
  'SQLITE_CORRUPT',
  'SQLITE_NOTADB',
  'SQLITE_IOERR_READ',
  'SQLITE_IOERR_SHORT_READ',
  'SQLITE_IOERR_CORRUPTFS',
  'SQLITE_IOERR_DATA',
];

/** True if only the same call can show that the store is well again. */
export function isDamage(error: unknown): boolean {
  return isOneOf(damageCodes, error);
}

/** True if there is no room. */
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
