import { Refusal } from '../../errors.ts';
import type { ApiKeyWithOwner, Records } from '../records.ts';
import { listApiKeys } from './api-key-list.ts';
import { type ApiKeyRow, selectApiKey, toApiKey } from './api-key-row.ts';
import type { Connection } from './connection.ts';

/** The part of the records store about API keys. */
export type ApiKeys = Pick<
  Records,
  'findApiKeyByHash' | 'findApiKey' | 'listApiKeys' | 'createApiKey' | 'deleteApiKey'
>;

/** API keys on SQLite; `now` is the clock, in epoch milliseconds. */
export function createApiKeys({ db, read, write, noteChange }: Connection, now: () => number): ApiKeys {
  // In a subquery: a parameter of a join itself makes SQLite plan the statement anew each time (ten times the cost).
  const byHash = db.prepare<[Uint8Array], ApiKeyRow>(
    `${selectApiKey} WHERE k.rowid = (SELECT rowid FROM api_keys WHERE hash = ?)`,
  );
  const byId = db.prepare<[string], ApiKeyRow>(
    `${selectApiKey} WHERE k.rowid = (SELECT rowid FROM api_keys WHERE id = ?)`,
  );
  const ownerDisabled = db.prepare<[string], 0 | 1>('SELECT disabled FROM users WHERE id = ?').pluck();
  const isLiveKey = db
    .prepare<[string, number], 1>('SELECT 1 FROM api_keys WHERE id = ? AND expires_order > ?')
    .pluck();
  const insert = db.prepare(
    `INSERT INTO api_keys (id, hash, label, hint, scopes, created, created_by, parent, expires, last_used)
      VALUES (@id, @hash, @label, @hint, @scopes, @created, @createdBy, @parent, @expires, @lastUsed)`,
  );
  const insertHeldSet = db.prepare<[string, string]>(
    'INSERT OR IGNORE INTO api_key_scope_sets (key_id, set_id) VALUES (?, ?)',
  );
  const exists = db.prepare<[string], string>('SELECT id FROM api_keys WHERE id = ?').pluck();
  const descendants = db
    .prepare<[string], string>(
      `WITH RECURSIVE minted (id) AS (
        SELECT id FROM api_keys WHERE id = ?
        UNION SELECT k.id FROM api_keys k JOIN minted ON k.parent = minted.id)
      SELECT id FROM minted`,
    )
    .pluck();
  const remove = db.prepare<[string]>('DELETE FROM api_keys WHERE id = ?');

  function find(row: ApiKeyRow | undefined): ApiKeyWithOwner | undefined {
    return row && toApiKey(row);
  }

  return {
    findApiKeyByHash: (hash) => find(read(() => byHash.get(hash))),
    findApiKey: (id) => find(read(() => byId.get(id))),
    // One transaction: items, total and what lies beyond are of one moment.
    listApiKeys: (query) => read(db.transaction(() => listApiKeys(db, query))),
    createApiKey: (key, hash) =>
      write(() => {
        const disabled = ownerDisabled.get(key.createdBy);
        // A key outlives its owner where it was kept; a session does not.
        const mayMint =
          key.parent === null ? disabled === 0 : disabled !== 1 && isLiveKey.get(key.parent, now()) === 1;
        if (!mayMint) throw new Refusal('not_authenticated');
        const { scopeSets, ...columns } = key;
        insert.run({ ...columns, hash, scopes: JSON.stringify(key.scopes) });
        for (const setId of scopeSets) insertHeldSet.run(key.id, setId);
        noteChange();
      }),
    deleteApiKey: (id, { children }) =>
      write(() => {
        const ids = (children ? descendants : exists).all(id);
        for (const doomed of ids) remove.run(doomed);
        if (ids.length > 0) noteChange();
        return ids;
      }),
  };
}
