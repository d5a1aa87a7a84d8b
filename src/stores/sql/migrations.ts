import { readdirSync, readFileSync } from 'node:fs';

/** Step from a schema version to the next. */
export interface Migration {
  /** The version that it leads to; the first is 1. */
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
