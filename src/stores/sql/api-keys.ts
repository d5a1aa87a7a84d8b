import { Refusal } from '../../errors.ts';
import type { ApiKey } from '../api-key.ts';
import type { Records } from '../records.ts';
import { createApiKeyList } from './api-key-list.ts';
import { selectApiKeyWithOwner, toApiKeyWithOwner } from './api-key-row.ts';
import { writeAudited } from './audit-events.ts';
import type { SqlDatabase } from './database.ts';
import { insertHeldSets } from './held-sets.ts';
import { createKeyLineage } from './key-lineage.ts';
import { first, noteNewKey, run, type Steps } from './steps.ts';

/** The part of the records store for API keys. */
export type ApiKeys = Pick<
  Records,
  'findApiKeyByHash' | 'findApiKey' | 'listApiKeys' | 'createApiKey' | 'deleteApiKey'
>;

const selectOwner = 'SELECT disabled FROM users WHERE id = ?';
const selectLiveKey = 'SELECT id FROM api_keys WHERE id = ? AND expires_order > ?';
const insertKey = `INSERT INTO api_keys
  (id, hash, label, hint, scopes, created, created_by, parent, session, expires, last_used)
  VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)`;

/** API keys in SQL; `now` is the clock, in epoch milliseconds. */
export function createApiKeys(database: SqlDatabase, now: () => number): ApiKeys {
  const { dialect, one, snapshot } = database;
  // In a subquery: with a parameter in the join itself SQLite plans the statement each time (ten times the cost).
  const select = `${selectApiKeyWithOwner(dialect)} WHERE k.${dialect.keyRow} = (SELECT ${dialect.keyRow} FROM api_keys`;
  const byHash = `${select} WHERE hash = ?)`;
  const byId = `${select} WHERE id = ?)`;
  const addHeldSets = insertHeldSets(dialect, 'api_key_scope_sets', 'key_id');
  const list = createApiKeyList(dialect);
  const lineage = createKeyLineage(dialect);

  function* add(key: ApiKey, hash: Uint8Array): Steps<void> {
    yield* requireCredential(key, now());
    const { id, label, hint, created, createdBy, parent, session, expires, lastUsed } = key;
    const origin = [created, createdBy, parent, session];
    const scopes = JSON.stringify(key.scopes);
    yield* run(insertKey, id, hash, label, hint, scopes, ...origin, expires, lastUsed);
    yield* run(addHeldSets, id, JSON.stringify(key.scopeSets));
    yield* noteNewKey(id);
  }

  return {
    findApiKeyByHash: (hash) => one(byHash, [hash], toApiKeyWithOwner),
    findApiKey: (id) => one(byId, [id], toApiKeyWithOwner),
    listApiKeys: (query) => snapshot(() => list(query)),
    createApiKey: (key, hash, audit) => writeAudited(database, now, () => add(key, hash), audit),
    deleteApiKey: (id, { children }, audit) =>
      writeAudited(database, now, () => lineage.removeKey(id, children), audit),
  };
}

/** A key may have been kept when its owner was removed; a session ends with its user. */
function* requireCredential({ createdBy, parent }: ApiKey, now: number): Steps<void> {
  const owner = yield* first<{ readonly disabled: number }>(selectOwner, createdBy);
  const mayMint =
    parent === null
      ? owner?.disabled === 0
      : owner?.disabled !== 1 && (yield* first(selectLiveKey, parent, now)) !== undefined;
  if (!mayMint) throw new Refusal('not_authenticated');
}
