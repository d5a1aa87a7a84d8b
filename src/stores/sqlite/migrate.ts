import type Database from 'better-sqlite3';
import { loadMigrations, type Migration, problemOfVersion } from '../sql/migrations.ts';
import { StoreOpenError } from '../store-open-error.ts';

/**
 * Brings a file to the newest schema, each numbered step in one transaction with the number it leads to. Two
 * processes may do so at once. Throws {@link StoreOpenError} when the file has a newer schema than this program.
 */
export function migrate(db: Database.Database, file: string, folder: string, applicationId: number): void {
  const migrations = loadAll(folder);

  const apply = db.transaction(({ number, sql }: Migration) => {
    // Another process may have done it while this one waited for the lock.
    if (versionOf(db) >= number) return;
    db.exec(sql);
    db.pragma(`application_id = ${applicationId}`);
    db.pragma(`user_version = ${number}`);
  });
  for (const migration of migrations) {
    if (versionOf(db) < migration.number) apply.immediate(migration);
  }
  requireMigrated(db, file, folder);
}

/** Throws {@link StoreOpenError} when the file has a newer or older schema than this program. */
export function requireMigrated(db: Database.Database, file: string, folder: string): void {
  const problem = problemOfVersion(versionOf(db), loadAll(folder).length);
  if (problem !== undefined) throw new StoreOpenError(file, problem);
}

function versionOf(db: Database.Database): number {
  return db.pragma('user_version', { simple: true }) as number;
}

function loadAll(folder: string): readonly Migration[] {
  return loadMigrations(new URL(`./migrations/${folder}/`, import.meta.url));
}
