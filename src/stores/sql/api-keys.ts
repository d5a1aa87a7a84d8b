import { Refusal } from '../../errors.ts';
import { administratorSet } from '../administrator-set.ts';
import type { ApiKey, ListedApiKey, RemovedApiKey } from '../api-key.ts';
import type { Records } from '../records.ts';
import { administratorSetId, type ScopeSet } from '../scope-set.ts';
import type { User } from '../user.ts';
import type { UserRecord } from '../user-records.ts';
import { createApiKeyList } from './api-key-list.ts';
import {
  type ApiKeyRow,
  originColumn,
  selectApiKey,
  selectApiKeyWithOwner,
  toApiKey,
  toApiKeyWithOwner,
} from './api-key-row.ts';
import { writeAudited } from './audit-events.ts';
import type { SqlDatabase } from './database.ts';
import { insertHeldSets } from './held-sets.ts';
import { JudgedWrites } from './judged-writes.ts';
import { KeyLineage } from './key-lineage.ts';
import { type ScopeSetRow, selectScopeSet, toScopeSetRecord } from './scope-set-row.ts';
import { all, first, noteChange, noteNewKey, run, type Steps } from './steps.ts';
import { createFindUserRecord } from './user-record-row.ts';

type DeletionJudge = Parameters<Records['deleteApiKey']>[1]['judge'];

const selectLiveKey = 'SELECT id FROM api_keys WHERE id = ? AND expires_order > ?';
const insertKey = `INSERT INTO api_keys
  (id, hash, label, hint, scopes, created, created_by, parent, session, origin, expires, last_used)
  VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?) RETURNING version`;

/** Clears the origin: the key wasn't minted in a session of the new owner. */
const setOwner = 'UPDATE api_keys SET created_by = ?, origin = NULL, version = version + 1 WHERE id = ?';

/** API keys in SQL; `now` is the clock, in epoch milliseconds. */
export function createApiKeys(database: SqlDatabase, now: () => number) {
  const { dialect, one, snapshot } = database;
  // In a subquery: with a parameter in the join itself SQLite plans the statement each time (ten times the cost).
  const select = `${selectApiKeyWithOwner(dialect)} WHERE k.${dialect.keyRow} = (SELECT ${dialect.keyRow} FROM api_keys`;
  const byHash = `${select} WHERE hash = ?)`;
  const byId = `${select} WHERE id = ?)`;
  const addHeldSets = insertHeldSets(dialect, 'api_key_scope_sets', 'key_id');
  const list = createApiKeyList(dialect);
  const lineage = new KeyLineage(dialect);

  /** Adds a key; returns its version. Few statements: on PostgreSQL each is a round trip, and writers wait for each other. */
  function* add(key: ApiKey, hash: Uint8Array, owner: User | undefined): Steps<number> {
    yield* requireCredential(key, owner, now());
    const { id, label, hint, created, createdBy, parent, session, expires, lastUsed } = key;
    const minted = [created, createdBy, parent, session, originColumn(key.origin)];
    const scopes = JSON.stringify(key.scopes);
    const values = [id, hash, label, hint, scopes, ...minted, expires, lastUsed] as const;
    const [inserted] = yield* run<{ readonly version: number }>(insertKey, ...values);
    if (key.scopeSets.length > 0) yield* run(addHeldSets, id, JSON.stringify(key.scopeSets));
    yield* noteNewKey(id);
    return inserted!.version;
  }

  const writes = new JudgedWrites(database, now);
  const user = createFindUserRecord(dialect);
  const listed = `${selectApiKey(dialect)} WHERE k.id = ?`;
  const setsByIds = `${selectScopeSet} WHERE s.id IN (SELECT value FROM ${dialect.elementsOf('?')}) ORDER BY s.id`;

  function* find(id: string): Steps<ListedApiKey | undefined> {
    const row = yield* first<ApiKeyRow>(listed, id);
    return row && toApiKey(row);
  }

  /** A set may have been removed since the request was validated. */
  function* requireSets(ids: readonly string[]): Steps<readonly ScopeSet[]> {
    const stored = ids.length === 0 ? [] : yield* all<ScopeSetRow>(setsByIds, JSON.stringify(ids));
    const sets = [
      ...(ids.includes(administratorSetId) ? [administratorSet] : []),
      ...stored.map(toScopeSetRecord),
    ];
    if (sets.length < ids.length) throw new Refusal('conflict');
    return sets;
  }

  function* remove(id: string, children: boolean, judge?: DeletionJudge): Steps<readonly RemovedApiKey[]> {
    const found = judge && (yield* find(id));
    const removed = yield* children ? lineage.removeWithChildren(id) : lineage.removeKey(id);
    if (removed.length > 0) judge?.(found);
    return removed;
  }

  return {
    createApiKeyRecord: ({ ownerId, scopeSets }, change) =>
      writes.make(
        change,
        function* () {
          return { owner: yield* user(ownerId), sets: yield* requireSets(scopeSets) };
        },
        function* ({ owner }, { key, hash }) {
          const version = yield* add(key, hash, owner?.user);
          if (key.scopeSets.length > 0) return (yield* find(key.id))!;
          return { key, owner: ownerOf(owner), sets: [], version };
        },
      ),
    findApiKeyByHash: (hash) => one(byHash, [hash], toApiKeyWithOwner),
    findApiKey: (id) => one(byId, [id], toApiKeyWithOwner),
    listApiKeys: (query) => snapshot(() => list(query)),
    async deleteApiKey(id, { children, judge }, audit) {
      const removed = await writeAudited(database, now, () => remove(id, children, judge), audit);
      return removed.map((key) => key.id);
    },
    transferApiKey: (id, newOwnerId, change) =>
      writes.makeFound(
        change,
        function* () {
          const found = yield* find(id);
          return found && { found, newOwner: yield* user(newOwnerId) };
        },
        function* () {
          yield* run(setOwner, newOwnerId, id);
          yield* noteChange([], [id]);
          return (yield* find(id))!;
        },
      ),
  } satisfies Partial<Records>;
}

function ownerOf(record: UserRecord | undefined): ListedApiKey['owner'] {
  if (record === undefined) return null;
  const { id, username, disabled } = record.user;
  return { id, username, disabled };
}

/** A key may have been kept when its owner was removed; a session ends with its user. */
function* requireCredential({ parent }: ApiKey, owner: User | undefined, now: number): Steps<void> {
  const mayMint =
    parent === null
      ? owner?.disabled === false
      : owner?.disabled !== true && (yield* first(selectLiveKey, parent, now)) !== undefined;
  if (!mayMint) throw new Refusal('not_authenticated');
}
