import { open, rm } from 'node:fs/promises';
import { resolve } from 'node:path';
import Database from 'better-sqlite3';
import { closeDatabase } from './open.ts';

/**
 * Copies a snapshot of the database in `source` to the new file `target` (mode 0600), while it is in use. The copy says
 * that it has no write-ahead log: see leftover-log.ts. Rejects when `target` exists or can't be written; no file is left
 * behind then.
 */
export async function backupDatabase(source: string, target: string): Promise<void> {
  const path = resolve(target);
  await (await open(path, 'wx', 0o600)).close();
  const snapshot = new Database(source, { fileMustExist: true, timeout: 50 });
  try {
    // An open read transaction keeps the snapshot; otherwise every write elsewhere would restart the copy.
    snapshot.exec('BEGIN; SELECT count(*) FROM sqlite_schema');
    await snapshot.backup(path);
    closeDatabase(new Database(path));
  } catch (error) {
    await rm(path, { force: true });
    throw error;
  } finally {
    snapshot.close();
  }
}
