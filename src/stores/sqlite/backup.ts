import { open, rm } from 'node:fs/promises';
import { resolve } from 'node:path';
import Database from 'better-sqlite3';

/**
 * Copies the database in `source` as it is at one moment to the new file `target` (mode 0600), while others use it.
 * Rejects when `target` exists or can't be written; nothing is left there then.
 */
export async function backupDatabase(source: string, target: string): Promise<void> {
  const path = resolve(target);
  await (await open(path, 'wx', 0o600)).close();
  const snapshot = new Database(source, { fileMustExist: true, timeout: 50 });
  try {
    // An open read transaction holds the moment still; else every write elsewhere would start the copy anew.
    snapshot.exec('BEGIN; SELECT count(*) FROM sqlite_schema');
    await snapshot.backup(path);
  } catch (error) {
    await rm(path, { force: true });
    throw error;
  } finally {
    snapshot.close();
  }
}
