import type Database from 'better-sqlite3';
import type { CopyEnd, Row, RunQuery } from '../sql/copy.ts';
import type { Value } from '../sql/steps.ts';
import { createConnection } from './connection.ts';
import type { OnNarrowed } from './file-modes.ts';
import { closeDatabase, openDatabase, openDatabaseToRead } from './open.ts';

/** Time that a query waits for the lock of another process, ms; it may block the event loop, as nothing else runs meanwhile. */
const busyTimeoutMs = 2_000;

/**
 * Opens the records in a file as the source of a copy. Throws {@link ../store-open-error.ts StoreOpenError}, also when there is
 * no file.
 */
export function openSqliteCopySource(file: string): CopyEnd {
  return createCopyEnd(openDatabaseToRead(file, 'records'), file, 'BEGIN', (db) => db.close());
}

/**
 * Opens the records in a file as the target of a copy, created and migrated as needed. Throws
 * {@link ../store-open-error.ts StoreOpenError}.
 */
export function openSqliteCopyTarget(file: string, onNarrowed: OnNarrowed): CopyEnd {
  return createCopyEnd(openDatabase(file, 'records', { onNarrowed }), file, 'BEGIN IMMEDIATE', closeDatabase);
}

function createCopyEnd(
  db: Database.Database,
  file: string,
  begin: string,
  closeDatabase: (db: Database.Database) => void,
): CopyEnd {
  db.pragma(`busy_timeout = ${busyTimeoutMs}`);
  const { read, close } = createConnection(db, { closeDatabase });
  const query: RunQuery = (sql, values = []) => read(() => queryOnce(db, sql, values));
  return {
    location: file,
    async transaction(work) {
      await query(begin);
      try {
        const result = await work(query);
        await query('COMMIT');
        return result;
      } catch (error) {
        // A disk failure may have ended the transaction already.
        if (db.inTransaction) await query('ROLLBACK');
        throw error;
      }
    },
    close,
  };
}

function queryOnce(db: Database.Database, sql: string, values: readonly Value[]): readonly Row[] {
  const statement = db.prepare<Value[], Row>(sql);
  if (statement.reader) return statement.all(...values);
  statement.run(...values);
  return [];
}
