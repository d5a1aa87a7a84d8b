import { Refusal } from '../../errors.ts';
import type {
  ApiKey,
  ApiKeyFilterField,
  ApiKeyQuery,
  ApiKeyStatus,
  ListedApiKey,
  RemovedApiKey,
} from '../api-key.ts';
import type { Records } from '../records.ts';
import type { User } from '../user.ts';
import type { UserRecord } from '../user-records.ts';
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
import type { Condition, Dialect } from './dialect.ts';
import { insertHeldSets } from './held-sets.ts';
import { JudgedWrites } from './judged-writes.ts';
import { KeyLineage } from './key-lineage.ts';
import { containsElement, createList, type FilterColumn, fieldConditions } from './list.ts';
import { createRequireSets } from './scope-sets.ts';
import { first, noteChange, run, type Steps } from './steps.ts';
import { createFindUserRecord } from './user-row.ts';

type DeletionJudge = Parameters<Records['deleteApiKey']>[1]['judge'];

const selectLiveKey = 'SELECT id FROM api_keys WHERE id = ? AND expires_order > ?';
const insertKey = `INSERT INTO api_keys
  (id, hash, label, hint, scopes, created, created_by, parent, session, origin, expires, last_used)
  VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?) RETURNING version`;

const selectPrefixes = 'SELECT prefix FROM api_key_prefixes';

/** Gives a key to another owner. This clears the origin: the key wasn't minted in a session of the new owner. */
const setOwner = 'UPDATE api_keys SET created_by = ?, origin = NULL, version = version + 1 WHERE id = ?';

/** Condition of each status; an expired key is never suspended, nor is one whose owner was removed. `?` is now, epoch ms. */
const statusConditions = {
  expired: 'k.expires_order <= ?',
  suspended: 'k.expires_order > ? AND k.created_by IN (SELECT id FROM users WHERE disabled = 1)',
  active: 'k.expires_order > ? AND k.created_by NOT IN (SELECT id FROM users WHERE disabled = 1)',
} as const satisfies Record<ApiKeyStatus, string>;

const orderColumns = {
  created: { column: 'k.created' },
  label: { column: 'k.label' },
  expires: { column: 'k.expires_order', nullValue: Number.MAX_SAFE_INTEGER },
  last_used: { column: 'k.last_used_order', nullValue: -Number.MAX_SAFE_INTEGER },
} as const;

/** API keys in SQL; `now` is the clock, in epoch milliseconds. */
export function createApiKeys(database: SqlDatabase, now: () => number) {
  const { dialect, one, many, snapshot } = database;
  // In a subquery: with a parameter in the join itself, SQLite would plan the statement each time, at ten times the cost.
  const select = `${selectApiKeyWithOwner(dialect)} WHERE k.${dialect.keyRow} = (SELECT ${dialect.keyRow} FROM api_keys`;
  const byHash = `${select} WHERE hash = ?)`;
  const byId = `${select} WHERE id = ?)`;
  const addHeldSets = insertHeldSets(dialect, 'api_key_scope_sets', 'key_id');
  const list = createList<ApiKeyQuery, ApiKeyRow, ListedApiKey>(dialect, {
    from: 'api_keys k',
    select: selectApiKey(dialect),
    countAll: dialect.countRows('api_keys'),
    id: 'k.id',
    row: `k.${dialect.keyRow}`,
    order: orderColumns,
    conditions: createConditions(dialect),
    toItem: toApiKey,
  });
  const requireSets = createRequireSets(dialect);
  const lineage = new KeyLineage(dialect);

  /** Adds a key and returns its version, in few statements: on PostgreSQL each is a round trip, for which other writers wait. */
  function* add(key: ApiKey, hash: Uint8Array, owner: User | undefined): Steps<number> {
    yield* requireCredential(key, owner, now());
    const { id, label, hint, created, createdBy, parent, session, expires, lastUsed } = key;
    const minted = [created, createdBy, parent, session, originColumn(key.origin)];
    const scopes = JSON.stringify(key.scopes);
    const values = [id, hash, label, hint, scopes, ...minted, expires, lastUsed] as const;
    const [inserted] = yield* run<{ readonly version: number }>(insertKey, ...values);
    if (key.scopeSets.length > 0) yield* run(addHeldSets, id, JSON.stringify(key.scopeSets));
    yield* noteChange({ newKeys: [id] });
    return inserted!.version;
  }

  const writes = new JudgedWrites(database, now);
  const user = createFindUserRecord(dialect);
  const listed = `${selectApiKey(dialect)} WHERE k.id = ?`;

  function* find(id: string): Steps<ListedApiKey | undefined> {
    const row = yield* first<ApiKeyRow>(listed, id);
    return row && toApiKey(row);
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
    apiKeyPrefixes: () =>
      many(selectPrefixes, [], (rows: readonly { readonly prefix: string }[]) =>
        rows.map(({ prefix }) => prefix),
      ),
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
          yield* noteChange({ keys: [id] });
          return (yield* find(id))!;
        },
      ),
  } satisfies Partial<Records>;
}

function createConditions(dialect: Dialect): (query: ApiKeyQuery) => readonly Condition[] {
  const { created, label, expires, last_used } = orderColumns;
  const columns: Readonly<Record<Exclude<ApiKeyFilterField, 'status'>, FilterColumn>> = {
    created,
    label,
    expires: { ...expires, order: expires },
    last_used: { ...last_used, order: last_used },
    // Scopes contain no quotes (RFC 6749 §3.3).
    scopes: { column: 'k.scopes', contains: (scope) => containsElement(dialect, 'k.scopes', scope) },
    created_by: { column: 'k.created_by' },
    parent: { column: 'k.parent' },
  };
  return ({ filters, now }) =>
    filters.flatMap(({ field, operator, value }): readonly Condition[] =>
      field === 'status'
        ? [{ sql: statusConditions[value as ApiKeyStatus], values: [now] }]
        : fieldConditions(dialect, columns, [{ field, operator, value }]),
    );
}

function ownerOf(record: UserRecord | undefined): ListedApiKey['owner'] {
  if (record === undefined) return null;
  const { id, username, disabled } = record.user;
  return { id, username, disabled };
}

/**
 * Refuses `not_authenticated` if the minting credential has ended: a parent key may outlive its removed owner, a session may not.
 */
function* requireCredential({ parent }: ApiKey, owner: User | undefined, now: number): Steps<void> {
  const mayMint =
    parent === null
      ? owner?.disabled === false
      : owner?.disabled !== true && (yield* first(selectLiveKey, parent, now)) !== undefined;
  if (!mayMint) throw new Refusal('not_authenticated');
}
