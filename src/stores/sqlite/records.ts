import { resolve } from 'node:path';
import { createRecordSeals, type RecordSeals } from '../record-seals.ts';
import type { Records } from '../records.ts';
import { createSqlRecords } from '../sql/records.ts';
import { sealAll } from '../sql/sealed-values.ts';
import { backupDatabase } from './backup.ts';
import { type Connection, createConnection } from './connection.ts';
import { createSqliteDatabase } from './database.ts';
import type { FileEvents, LogState } from './file-events.ts';
import { FileHealth } from './file-health.ts';
import { closeDatabase, type OpenOptions, openDatabase } from './open.ts';
import { scrub } from './scrub.ts';
import type { StoreKind } from './store-kind.ts';

/** Options of a SQLite store. */
export interface SqliteStoreOptions extends OpenOptions {
  /** The clock, epoch milliseconds. */
  readonly now: () => number;
  /** As in {@link ./connection.ts ConnectionOptions}. */
  readonly pollsOncePerTurn?: boolean;
  /** Time for which cached results count while the file can't be read, ms; a reload may change it. Default 0. */
  readonly staleIfErrorMs?: () => number;
  /** Called when the file fails and when it can be used again. */
  readonly events?: FileEvents;
  /** Encrypts private keys and secrets of the records; default: they are not. */
  readonly seals?: RecordSeals;
}

/** Members of a store in a SQLite file besides its operations. */
export interface SqliteStore {
  /** State of the file's log within the last second. */
  logState(): LogState;
}

/** The records in a SQLite file. */
export interface SqliteRecords extends Records, SqliteStore {
  /**
   * As {@link ../sql/sealed-values.ts sealAll}; then rewrites the file, so that nothing of the earlier state remains in it,
   * unless another process reads it at this moment: the next opening tries again.
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
    // In the place of a file that is gone there may be another one, with a log of its own.
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

/** While the file can't be read, its last version counts for `staleIfErrorMs`. */
function createVersion({ changes }: Connection, staleIfErrorMs: () => number): () => number {
  let last = changes();
  let lastCheckAt = performance.now();
  return () => {
    try {
      last = changes();
      lastCheckAt = performance.now();
    } catch (error) {
      if (performance.now() - lastCheckAt >= staleIfErrorMs()) throw error;
    }
    return last;
  };
}

/** Number of uses recorded in a transaction: a few milliseconds. */
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
