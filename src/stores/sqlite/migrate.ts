import { readdirSync, readFileSync } from 'node:fs';
import type Database from 'better-sqlite3';
import { StoreOpenError } from './store-open-error.ts';

interface Migration {
  readonly number: number;
  readonly sql: string;
}

/**
 * Brings a file to the newest schema, each numbered step in one transaction with the number it leads to. Two
 * processes may do this at once. Throws {@link StoreOpenError} when the file has a newer schema than this program.
 */
export function migrate(db: Database.Database, file: string, folder: string, applicationId: number): void {
  const migrations = loadMigrations(folder);
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

function loadMigrations(folder: string): readonly Migration[] {
  const base = new URL(`./migrations/${folder}/`, import.meta.url);
  const names = readdirSync(base).filter((name) => name.endsWith('.sql'));
  return names.sort().map((name, index) => {
    const number = Number.parseInt(name, 10);
    if (number !== index + 1) throw new Error(`migrations of ${folder} have a gap before ${name}`);
    return { number, sql: readFileSync(new URL(name, base), 'utf8') };
  });
}
