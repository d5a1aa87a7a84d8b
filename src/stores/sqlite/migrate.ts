import type Database from 'better-sqlite3';
import { loadMigrations, type Migration } from '../sql/migrations.ts';
import { StoreOpenError } from '../store-open-error.ts';

/**
 * Brings a file to the newest schema, each numbered step in one transaction with the number it leads to. Two
 * processes may do this at once. Throws {@link StoreOpenError} when the file has a newer schema than this program.
 */
export function migrate(db: Database.Database, file: string, folder: string, applicationId: number): void {
  const migrations = loadMigrations(new URL(`./migrations/${folder}/`, import.meta.url));
  const newest = migrations.length;
  const version = (): number => db.pragma('user_version', { simple: true }) as number;

  const apply = db.transaction(({ number, sql }: Migration) => {
    // Another process may have been first, while this one waited for the lock.
    if (version() >= number) return;
    db.exec(sql);
    db.pragma(`application_id = ${applicationId}`);
    db.pragma(`user_version = ${number}`);
  });
  for (const migration of migrations) {
    if (version() < migration.number) apply.immediate(migration);
  }

  if (version() > newest) {
    throw new StoreOpenError(
      file,
      `has schema version ${version()}, newer than ${newest} which this program knows`,
    );
  }
}
