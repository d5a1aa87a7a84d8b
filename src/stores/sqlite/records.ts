import { open, rm } from 'node:fs/promises';
import { resolve } from 'node:path';
import Database from 'better-sqlite3';
import { createRecordSeals, type RecordSeals } from '../record-seals.ts';
import type { BackedUp, Records } from '../records.ts';
import { createSqlRecords } from '../sql/records.ts';
import { sealAll } from '../sql/sealed-values.ts';
import { type Connection, createConnection, createVersion } from './connection.ts';
import { createSqliteDatabase } from './database.ts';
import { type FileEvents, FileHealth } from './file-health.ts';
import type { StoreKind } from './inspect.ts';
import { checkpoint, type LogState } from './log-size.ts';
import { closeDatabase, type OpenOptions, openDatabase } from './open.ts';

/** Options of a SQLite store. */
export interface SqliteStoreOptions extends OpenOptions {
  /** The clock, epoch milliseconds. */
  readonly now: () => number;
  /** Milliseconds elapsed, whatever the clock is set to; default `performance.now()`. */
  readonly elapsed?: () => number;
  /** As in {@link ./connection.ts ConnectionOptions}. */
  readonly pollsOncePerTurn?: boolean;
  /** Time for which cached results count while the file can't be read, ms; a reload may change it. Default 0. */
  readonly staleIfErrorMs?: () => number;
  /** Notified when the file fails, and when it can be used again. */
  readonly events?: FileEvents;
  /** Encrypts private keys and secrets of the records; default: nothing is encrypted. */
  readonly seals?: RecordSeals;
}

/** The records in a SQLite file. */
export interface SqliteRecords extends Records {
  /** State of the file's write-ahead log, at most a second old. */
  logState(): LogState;
  /**
   * As {@link ../sql/sealed-values.ts sealAll}, whose result is `isRewritten`; then rewrites the file, so that no former contents
   * remain. `isRemaining` is true if the file couldn't be rewritten now: the next opening tries again.
   */
  sealAll(): Promise<{ readonly isRewritten: boolean; readonly isRemaining: boolean }>;
}

/** Opens the file of a store, and watches it until it is closed. Throws {@link ../store-open-error.ts StoreOpenError}. */
export function openStoreFile(
  file: string,
  kind: StoreKind,
  { pollsOncePerTurn, events, ...options }: SqliteStoreOptions,
): { readonly connection: Connection; readonly health: FileHealth } {
  const db = openDatabase(file, kind, options);
  const health = new FileHealth(db, resolve(file), events);
  const connection = createConnection(db, {
    pollsOncePerTurn,
    health,
    // Another file may be in the place of one that is gone, with a log of its own.
    closeDatabase: (db) => (health.isInPlace() ? closeDatabase(db) : db.close()),
  });
  return { connection, health };
}

/**
 * Opens the records store in a SQLite file, created and migrated as needed.
 * Throws {@link ../store-open-error.ts StoreOpenError} when the file can't be used.
 */
export function createSqliteRecords(file: string, options: SqliteStoreOptions): SqliteRecords {
  const { now, staleIfErrorMs = () => 0, seals = createRecordSeals('', []) } = options;
  const { connection, health } = openStoreFile(file, 'records', options);
  const database = createSqliteDatabase(connection, now);
  return {
    version: createVersion(connection, staleIfErrorMs),
    ...createSqlRecords(database, now, seals),
    noteUse: createNoteUse(connection),
    ping: () => connection.ping(() => connection.db.prepare('SELECT open FROM bootstrap').get()),
    backup: (target) => backupDatabase(connection.db.name, target),
    async sealAll() {
      const isRewritten = await sealAll(database, seals);
      return { isRewritten, isRemaining: scrub(connection.db) };
    },
    logState: () => health.logState,
    close: connection.close,
  };
}

/** Maximum number of uses recorded in one transaction, which takes a few milliseconds. */
const noteBatch = 200;

function createNoteUse({ db, write }: Connection): Records['noteUse'] {
  const noteKey = db.prepare<[number, string]>(
    'UPDATE api_keys SET last_used = max(ifnull(last_used, 0), ?) WHERE id = ?',
  );
  // In batches, or a busy minute would block the event loop. After a failure all may be recorded again: it does no harm.
  return async (keys) => {
    const entries = [...keys];
    for (let start = 0; start < entries.length; start += noteBatch) {
      await write(() => {
        for (const [id, at] of entries.slice(start, start + noteBatch)) noteKey.run(at, id);
      });
    }
  };
}

/**
 * Copies a snapshot of the database in `source`, while it is in use, to the new file `target` (mode 0600). The copy's header says
 * that it has no write-ahead log: see leftover-log.ts. Resolves to the numbers of its records. Rejects when `target` exists or
 * can't be written; no file is left behind then. No one else may write the folder: SQLite opens the new file by its name.
 */
async function backupDatabase(source: string, target: string): Promise<BackedUp> {
  const path = resolve(target);
  await (await open(path, 'wx', 0o600)).close();
  const snapshot = new Database(source, { fileMustExist: true, timeout: 50 });
  try {
    // An open read transaction keeps the snapshot; otherwise every write elsewhere would restart the copy.
    snapshot.exec('BEGIN; SELECT count(*) FROM sqlite_schema');
    await snapshot.backup(path);
    const copy = new Database(path);
    const count = (table: string) =>
      copy.prepare<[], number>(`SELECT count(*) FROM ${table}`).pluck().get() ?? 0;
    const copied = { users: count('users'), keys: count('api_keys') };
    closeDatabase(copy);
    return copied;
  } catch (error) {
    await rm(path, { force: true });
    throw error;
  } finally {
    snapshot.close();
  }
}

/** Time to wait for the lock of another process, ms. */
const scrubTimeoutMs = 1_000;

/**
 * Rewrites a file and empties its log, if its former contents must not stay in free pages. Every opening tries until it is done.
 * Returns true if it remains to be done, because another process reads the file, or the disk fails.
 */
function scrub(db: Database.Database): boolean {
  const isDue = db.prepare('SELECT is_due FROM scrub').pluck();
  if (isDue.get() === 0) return false;
  const before = db.pragma('busy_timeout', { simple: true });
  db.pragma(`busy_timeout = ${scrubTimeoutMs}`);
  try {
    db.exec('VACUUM');
    if (checkpoint(db, 'TRUNCATE').busy !== 0) return true;
    db.exec('UPDATE scrub SET is_due = 0');
    return false;
  } catch {
    // Someone holds a lock, or the disk is full: neither is a reason not to serve.
    return true;
  } finally {
    db.pragma(`busy_timeout = ${before}`);
  }
}
