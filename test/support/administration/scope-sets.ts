import { join } from 'node:path';
import Database from 'better-sqlite3';
import type { ScopeSet } from '../../../src/stores/scope-set.ts';

/** Puts a scope set into the records of a test gateway, as another process would. */
export async function addScopeSet(
  folder: string,
  set: Pick<ScopeSet, 'id' | 'name' | 'scopes'>,
): Promise<void> {
  const db = new Database(join(folder, 'records.db'));
  db.prepare(
    `INSERT OR REPLACE INTO scope_sets (id, name, description, scopes, created, updated) VALUES (?, ?, '', ?, 0, 0)`,
  ).run(set.id, set.name, JSON.stringify(set.scopes.toSorted()));
  db.close();
}
