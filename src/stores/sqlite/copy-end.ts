import type Database from 'better-sqlite3';
import type { Ask, CopyEnd, Row } from '../sql/copy-end.ts';
import type { Value } from '../sql/steps.ts';
import { createConnection } from './connection.ts';
import type { OnNarrowed } from './file-modes.ts';
import { openDatabase, openDatabaseToRead } from './open.ts';

/** Nothing else is done meanwhile, so another process' lock may hold up the event loop. */
const busyTimeoutMs = 2_000;

/** Opens the records in a file to copy them. Throws {@link ../store-open-error.ts StoreOpenError}, also when there is none. */
export function openSqliteCopySource(file: string): CopyEnd {
  return createCopyEnd(openDatabaseToRead(file, 'records'), file, 'BEGIN');
}

/** Opens records in a file to copy others there; made and migrated as needed. Throws {@link ../store-open-error.ts StoreOpenError}. */
export function openSqliteCopyTarget(file: string, onNarrowed: OnNarrowed): CopyEnd {
  return createCopyEnd(openDatabase(file, 'records', onNarrowed), file, 'BEGIN IMMEDIATE');
}

function createCopyEnd(db: Database.Database, file: string, begin: string): CopyEnd {
  db.pragma(`busy_timeout = ${busyTimeoutMs}`);
  const { read, close } = createConnection(db);
  const ask: Ask = (sql, values = []) => read(() => askOnce(db, sql, values));
  return {
    location: file,
    async transaction(work) {
      await ask(begin);
      try {
        const result = await work(ask);
        await ask('COMMIT');
        return result;
      } catch (error) {
        // A failing disk may have ended it already.
        if (db.inTransaction) await ask('ROLLBACK');
        throw error;
      }
    },
    close,
  };
}

function askOnce(db: Database.Database, sql: string, values: readonly Value[]): readonly Row[] {
  const statement = db.prepare<Value[], Row>(sql);
  if (statement.reader) return statement.all(...values);
  statement.run(...values);
  return [];
}
