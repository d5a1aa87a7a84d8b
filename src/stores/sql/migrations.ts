import { readdirSync, readFileSync } from 'node:fs';

/** A step from one schema version to the next. */
export interface Migration {
  /** The schema version after this step; the first is 1. */
  readonly number: number;
  readonly sql: string;
}

/** Reads the migrations `NNN-name.sql` of a folder, in order. Throws when a number is missing. */
export function loadMigrations(folder: URL): readonly Migration[] {
  const names = readdirSync(folder).filter((name) => name.endsWith('.sql'));
  return names.sort().map((name, index) => {
    const number = Number.parseInt(name, 10);
    if (number !== index + 1) throw new Error(`${folder.pathname} has a gap before ${name}`);
    return { number, sql: readFileSync(new URL(name, folder), 'utf8') };
  });
}

/** The reason why a schema version can't be used, worded to follow the store's name; undefined for the newest version. */
export function problemOfVersion(version: number, newest: number): string | undefined {
  if (version === newest) return undefined;
  const supported = version > newest ? `supports up to ${newest}` : `requires ${newest}`;
  return `has schema version ${version}; this version of Postern ${supported}`;
}
