import { closeSync, existsSync, mkdirSync, openSync, realpathSync } from 'node:fs';
import { dirname, resolve } from 'node:path';
import Database from 'better-sqlite3';
import { loadMigrations, type Migration, problemOfVersion } from '../sql/migrations.ts';
import { StoreOpenError } from '../store-open-error.ts';
import { isBusy } from './failures.ts';
import { narrowModes, type OnNarrowed } from './file-modes.ts';
import { applicationIds, assertUsable, notDatabase, problemOfKind, type StoreKind } from './inspect.ts';
import { problemOfLog, problemOfLogAlone } from './leftover-log.ts';
import { keptLogBytes } from './log-size.ts';

/** Page cache of a connection, KiB: the system caches the file too, and callers are cached above. SQLite's default is 2,000. */
const cachedPagesKib = 512;
/** The `synchronous` pragma: records survive a power cut; sessions may lose their last writes, which the rotation tolerates. */
const synchronous: Readonly<Record<StoreKind, string>> = { records: 'FULL', sessions: 'NORMAL' };

/** Time that opening waits for a process that migrates the file, ms; nothing is served yet, so blocking does no harm. */
const openTimeoutMs = 5_000;

/** Time that a statement may block the event loop for a lock, ms; after that, writes wait without blocking. */
const busyTimeoutMs = 10;

/** Options of opening a file. */
export interface OpenOptions {
  /** Set if a missing file is created; default true. */
  readonly mayCreate?: boolean;
  /** Called with each file that other users could access, after its mode has been restricted. */
  readonly onNarrowed?: OnNarrowed;
  /** Called when a new file has been created. */
  readonly onCreated?: (file: string) => void;
}

/**
 * Opens the SQLite file of a store, created and migrated as needed and made private (file 0600, a new folder 0700). Throws
 * {@link StoreOpenError} when the file can't be read and written, is missing and may not be created, has the log of another file
 * beside it, is corrupt, or is of another kind or a newer schema.
 */
export function openDatabase(
  file: string,
  kind: StoreKind,
  { mayCreate = true, onNarrowed = () => {}, onCreated }: OpenOptions = {},
): Database.Database {
  let isNew = false;
  const before = (path: string) => {
    if (mayCreate) isNew = createFile(path, file);
    const target = realpathSync(path);
    assertUsable(target);
    assertOwnLog(target, file);
    return target;
  };
  const db = openWith(file, { fileMustExist: true, timeout: openTimeoutMs }, before, (db) => {
    assertKind(db, file, kind);
    // Before anything is written: the files that SQLite creates beside it then have the same mode.
    narrowModes(db.name, file, onNarrowed);
    useWriteAheadLog(db, file);
    db.pragma(`journal_size_limit = ${keptLogBytes}`);
    db.pragma(`synchronous = ${synchronous[kind]}`);
    db.pragma('foreign_keys = ON');
    db.pragma(`cache_size = -${cachedPagesKib}`);
    assertIntact(db, file);
    migrate(db, file, kind);
    db.pragma(`busy_timeout = ${busyTimeoutMs}`);
  });
  if (isNew) onCreated?.(file);
  return db;
}

/**
 * Closes a database that {@link openDatabase} opened. If no other process has it open, its log is emptied and removed, and its
 * header says that it has none: see leftover-log.ts.
 */
export function closeDatabase(db: Database.Database): void {
  try {
    db.pragma('busy_timeout = 0');
    db.pragma('journal_mode = DELETE');
  } catch {
    // Someone else has it open, or the disk fails: then the log stays with it.
  }
  db.close();
}

/**
 * Opens the SQLite file of a store for reading, and changes nothing in it. Throws {@link StoreOpenError} as {@link openDatabase}
 * does, and when there is no file or its schema is not the newest.
 */
export function openDatabaseToRead(file: string, kind: StoreKind): Database.Database {
  const options = { readonly: true, fileMustExist: true, timeout: openTimeoutMs };
  const before = (path: string) => {
    const target = realpathSync(path);
    assertOwnLog(target, file);
    return target;
  };
  return openWith(file, options, before, (db) => {
    assertKind(db, file, kind);
    assertIntact(db, file);
    assertMigrated(db, file, kind);
  });
}

/**
 * Opens the file that `before` returns for a path: the target of its symbolic links, since SQLite keeps the side files beside
 * that. Every error on the way is thrown as a {@link StoreOpenError}, and leaves nothing open.
 */
function openWith(
  file: string,
  options: Database.Options,
  before: (path: string) => string,
  prepare: (db: Database.Database) => void,
): Database.Database {
  // Absolute, or SQLite would treat names like `:memory:` and `file:…` specially.
  const path = resolve(file);
  let db: Database.Database | undefined;
  try {
    db = new Database(before(path), options);
    prepare(db);
    return db;
  } catch (error) {
    db?.close();
    throw error instanceof StoreOpenError ? error : new StoreOpenError(file, reasonOf(error), error);
  }
}

/**
 * Creates a missing file and its folder with private modes: SQLite would use the process's umask. It gives its side files the
 * mode of the file. Returns true if the file was created.
 */
function createFile(path: string, file: string): boolean {
  if (existsSync(path)) return false;
  const problem = problemOfLogAlone(path);
  if (problem !== undefined) throw new StoreOpenError(file, problem);
  mkdirSync(dirname(path), { recursive: true, mode: 0o700 });
  try {
    // Exclusive: closing a second descriptor of an open database would drop this process's locks on it.
    closeSync(openSync(path, 'wx', 0o600));
    return true;
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'EEXIST') throw error;
    return false;
  }
}

function assertOwnLog(path: string, file: string): void {
  const problem = problemOfLog(path);
  if (problem !== undefined) throw new StoreOpenError(file, problem);
}

/** Throws unless the file is of this kind, or empty; called before anything is written to it. */
function assertKind(db: Database.Database, file: string, kind: StoreKind): void {
  // Both in one transaction: another process may just be creating it.
  const inspect = db.transaction(() => ({
    found: db.pragma('application_id', { simple: true }),
    isEmpty: db.prepare('SELECT count(*) FROM sqlite_schema').pluck().get() === 0,
  }));
  const { found, isEmpty } = inspect();
  if (found === applicationIds[kind] || (found === 0 && isEmpty)) return;
  throw new StoreOpenError(file, problemOfKind(found, kind));
}

/** Turns the write-ahead log on, and reads: from then on the log is in use, and no other process can turn it off. */
function useWriteAheadLog(db: Database.Database, file: string): void {
  const read = db.prepare('SELECT count(*) FROM sqlite_schema');
  const deadline = performance.now() + openTimeoutMs;
  while (performance.now() < deadline) {
    const mode = retryWhileBusy(() => db.pragma('journal_mode = WAL', { simple: true }));
    if (mode !== 'wal')
      throw new StoreOpenError(file, `can't use the write-ahead log (journal mode ${mode})`);
    read.get();
    // Another process that closed the file at that moment may have turned it off in between.
    if (existsSync(`${db.name}-wal`)) return;
  }
  throw new StoreOpenError(file, "can't use the write-ahead log: another process keeps removing it");
}

/** Repeats a step while another process holds a lock: SQLite doesn't wait when two processes turn on the log at once. */
function retryWhileBusy<T>(step: () => T): T {
  const deadline = performance.now() + openTimeoutMs;
  for (;;) {
    try {
      return step();
    } catch (error) {
      if (!isBusy(error) || performance.now() > deadline) throw error;
      Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 10);
    }
  }
}

function assertIntact(db: Database.Database, file: string): void {
  const verdict = db.pragma('quick_check(1)', { simple: true });
  // It has read every page, up to 2 MB of which SQLite would keep.
  db.pragma('shrink_memory');
  if (verdict !== 'ok') throw new StoreOpenError(file, `is corrupt (${verdict})`);
}

/**
 * Migrates a file to the newest schema; each step is one transaction, which also writes the new version. Two processes may
 * migrate at once.
 */
function migrate(db: Database.Database, file: string, kind: StoreKind): void {
  const apply = db.transaction(({ number, sql }: Migration) => {
    // Another process may have done it while this one waited for the lock.
    if (versionOf(db) >= number) return;
    db.exec(sql);
    db.pragma(`application_id = ${applicationIds[kind]}`);
    db.pragma(`user_version = ${number}`);
  });
  for (const migration of migrationsOf(kind)) {
    if (versionOf(db) < migration.number) apply.immediate(migration);
  }
  assertMigrated(db, file, kind);
}

function assertMigrated(db: Database.Database, file: string, kind: StoreKind): void {
  const problem = problemOfVersion(versionOf(db), migrationsOf(kind).length);
  if (problem !== undefined) throw new StoreOpenError(file, problem);
}

function versionOf(db: Database.Database): number {
  return db.pragma('user_version', { simple: true }) as number;
}

function migrationsOf(kind: StoreKind): readonly Migration[] {
  return loadMigrations(new URL(`./migrations/${kind}/`, import.meta.url));
}

function reasonOf(error: unknown): string {
  const { code, message } = error as NodeJS.ErrnoException;
  if (code === 'SQLITE_NOTADB') return notDatabase;
  if (code?.startsWith('SQLITE_CORRUPT')) return 'is corrupt';
  return `can't be opened (${code ?? 'unknown'}: ${message})`;
}
