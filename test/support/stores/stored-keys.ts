import { createHash } from 'node:crypto';
import { join } from 'node:path';
import Database from 'better-sqlite3';
import { uuidv7 } from 'uuidv7';
import type { ApiKey } from '../../../src/stores/api-key.ts';

/** A key as it is stored; fields that a test leaves out don't matter. */
export function storedKey(createdBy: string, changes: Partial<ApiKey> = {}): ApiKey {
  return {
    id: uuidv7(),
    label: 'a stored key',
    hint: 'pst_abcd',
    scopes: ['store:read'],
    scopeSets: [],
    created: Date.now(),
    createdBy,
    parent: null,
    session: null,
    origin: null,
    expires: null,
    lastUsed: null,
    ...changes,
  };
}

/** Writes keys into the records of a test gateway in one transaction, where the store would need one for each. */
export function storeKeys(folder: string, keys: readonly ApiKey[]): void {
  const db = new Database(join(folder, 'records.db'));
  const insert = db.prepare(
    `INSERT INTO api_keys (id, hash, label, hint, scopes, created, created_by, parent, session, expires, last_used)
      VALUES (@id, @hash, @label, @hint, @scopes, @created, @createdBy, @parent, @session, @expires, @lastUsed)`,
  );
  db.transaction(() => {
    for (const { scopeSets: _, ...key } of keys) {
      const hash = createHash('sha256').update(key.id).digest();
      insert.run({ ...key, hash, scopes: JSON.stringify(key.scopes) });
    }
  })();
  db.close();
}
