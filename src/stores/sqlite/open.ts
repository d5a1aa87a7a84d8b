import { accessSync, closeSync, constants, mkdirSync, openSync } from 'node:fs';
import { dirname, resolve } from 'node:path';
import Database from 'better-sqlite3';
import { StoreOpenError } from '../store-open-error.ts';
import { narrowModes, type OnNarrowed } from './file-modes.ts';
import { migrate, requireMigrated } from './migrate.ts';

/** What a file holds; it also names the folder of its migrations. */
export type StoreKind = 'records' | 'sessions';

/** Marks a file as ours, so that one kind is never taken for the other ("PSTR", "PSTS"). */
export const applicationIds: Readonly<Record<StoreKind, number>> = {
  records: 0x50535452,
  sessions: 0x50535453,
};

/** Records survive a power cut; sessions may lose their last moments, which the rotation heals. */
const synchronous: Readonly<Record<StoreKind, string>> = { records: 'FULL', sessions: 'NORMAL' };

/** While opening nothing is served yet, so another process that migrates may be waited for. */
const openTimeoutMs = 5_000;

/** How long a statement may hold up the event loop for a lock; writes then wait without blocking. */
const busyTimeoutMs = 10;

/**
 * Opens the SQLite file of a store, made private (file 0600, a new folder 0700) and migrated when it is new or old;
 * `onNarrowed` is told where others could read it.
 * Throws {@link StoreOpenError} when it can't be read and written, is damaged, of another kind or of a newer schema.
 */
export function openDatabase(
  file: string,
  kind: StoreKind,
  onNarrowed: OnNarrowed = () => {},
): Database.Database {
  return openWith(file, { fileMustExist: true, timeout: openTimeoutMs }, preparePath, (db) => {
    assertKind(db, file, kind);
    // Before anything is written: what SQLite makes beside it then has the same mode.
    narrowModes(db.name, file, onNarrowed);
    useWriteAheadLog(db, file);
    db.pragma(`synchronous = ${synchronous[kind]}`);
    db.pragma('foreign_keys = ON');
    assertIntact(db, file);
    migrate(db, file, kind, applicationIds[kind]);
    db.pragma(`busy_timeout = ${busyTimeoutMs}`);
  });
}

/**
 * Opens the SQLite file of a store to read it, and changes nothing about it. Throws {@link StoreOpenError} as
 * {@link openDatabase} does, and when there is no file or its schema is not the newest.
 */
export function openDatabaseToRead(file: string, kind: StoreKind): Database.Database {
  const options = { readonly: true, fileMustExist: true, timeout: openTimeoutMs };
  return openWith(file, options, accessSync, (db) => {
    assertKind(db, file, kind);
    assertIntact(db, file);
    requireMigrated(db, file, kind);
  });
}

/** Opens a file; whatever is thrown on the way is a {@link StoreOpenError}, and leaves nothing open. */
function openWith(
  file: string,
  options: Database.Options,
  before: (path: string) => void,
  prepare: (db: Database.Database) => void,
): Database.Database {
  // Absolute, or SQLite would take names like `:memory:` and `file:…` for its own.
  const path = resolve(file);
  let db: Database.Database | undefined;
  try {
    before(path);
    db = new Database(path, options);
    prepare(db);
    return db;
  } catch (error) {
    db?.close();
    throw error instanceof StoreOpenError ? error : new StoreOpenError(file, reasonOf(error), error);
  }
}

/** Makes folder and file before SQLite would with the process's umask; SQLite gives its side files the same mode. */
function preparePath(path: string): void {
  mkdirSync(dirname(path), { recursive: true, mode: 0o700 });
  try {
    // Exclusive: closing a second descriptor of an open database would drop this process's locks on it.
    closeSync(openSync(path, 'wx', 0o600));
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'EEXIST') throw error;
  }
  // SQLite would quietly open what it may only read.
  accessSync(path, constants.R_OK | constants.W_OK);
  accessSync(dirname(path), constants.R_OK | constants.W_OK | constants.X_OK);
}

/** Comes before anything is written: a file that isn't ours stays as it is. */
function assertKind(db: Database.Database, file: string, kind: StoreKind): void {
  // Both of one moment: another process may be making it just now.
  const look = db.transaction(() => ({
    found: db.pragma('application_id', { simple: true }),
    isEmpty: db.prepare('SELECT count(*) FROM sqlite_schema').pluck().get() === 0,
  }));
  const { found, isEmpty } = look();
  if (found === applicationIds[kind] || (found === 0 && isEmpty)) return;
  const other = (Object.keys(applicationIds) as StoreKind[]).find((name) => applicationIds[name] === found);
  throw new StoreOpenError(file, `is a database of ${other ?? 'another program'}, not of ${kind}`);
}

function useWriteAheadLog(db: Database.Database, file: string): void {
  const mode = retryWhileBusy(() => db.pragma('journal_mode = WAL', { simple: true }));
  if (mode !== 'wal') throw new StoreOpenError(file, `write-ahead log can't be used (journal mode ${mode})`);
}

/** SQLite doesn't wait by itself where two processes turn on the log at the same moment. */
function retryWhileBusy<T>(step: () => T): T {
  const deadline = performance.now() + openTimeoutMs;
  for (;;) {
    try {
      return step();
    } catch (error) {
      const isBusy = error instanceof Database.SqliteError && error.code.startsWith('SQLITE_BUSY');
      if (!isBusy || performance.now() > deadline) throw error;
      Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 10);
    }
  }
}

function assertIntact(db: Database.Database, file: string): void {
  const verdict = db.pragma('quick_check(1)', { simple: true });
  if (verdict !== 'ok') throw new StoreOpenError(file, `is damaged (${verdict})`);
}

function reasonOf(error: unknown): string {
  const { code, message } = error as NodeJS.ErrnoException;
  if (code === 'SQLITE_NOTADB') return 'is damaged or not an SQLite database';
  if (code?.startsWith('SQLITE_CORRUPT')) return 'is damaged';
  return `can't be opened (${code ?? 'unknown'}: ${message})`;
}
