import { Refusal } from '../../errors.ts';
import { readsAsBuiltInSet } from '../../rules/set-name.ts';
import { administratorRecord, administratorSet } from '../administrator-set.ts';
import type { Records } from '../records.ts';
import { administratorSetId, type ScopeSet } from '../scope-set.ts';
import type {
  Changed,
  NewScopeSet,
  ScopeSetChanges,
  ScopeSetFilterField,
  ScopeSetQuery,
  ScopeSetRecord,
} from '../scope-set-records.ts';
import type { SqlDatabase } from './database.ts';
import type { Dialect } from './dialect.ts';
import { JudgedWrites } from './judged-writes.ts';
import { containsElement, createList, type FilterColumn, fieldConditions } from './list.ts';
import { all, first, given, noteChange, run, type Steps } from './steps.ts';

/** A row of {@link selectScopeSet}. */
export interface ScopeSetRow extends Omit<ScopeSetRecord, 'scopes' | 'managed'> {
  readonly scopes: string;
  readonly managed: number;
}

const scopeSetColumns = 's.id, s.name, s.description, s.scopes, s.created, s.updated, s.managed, s.version';

/** Selects stored scope sets; a WHERE clause may follow. */
export const selectScopeSet = `SELECT ${scopeSetColumns} FROM scope_sets s`;
const byName = `${selectScopeSet} WHERE s.name = ?`;
const byId = `${selectScopeSet} WHERE s.id = ?`;
const insertSet = `INSERT INTO scope_sets (id, name, description, scopes, created, updated)
  VALUES (?, ?, ?, ?, ?, ?)`;
const updateSet = `UPDATE scope_sets SET name = ?, description = ?, scopes = ?, updated = ?, version = version + 1
  WHERE id = ?`;
const deleteSet = 'DELETE FROM scope_sets WHERE id = ?';
const selectUserOf = 'SELECT DISTINCT user_id AS id FROM held_scope_sets WHERE set_id = ? LIMIT ?';
const selectKeyOf = 'SELECT key_id AS id FROM api_key_scope_sets WHERE set_id = ? LIMIT ?';

const { description, created, updated, version } = administratorRecord;
/** The stored sets and the built-in one. There are few sets, so that listing them needs no index. */
const everySet = `(SELECT ${scopeSetColumns} FROM scope_sets s
  UNION ALL SELECT '${administratorSetId}', '${administratorSetId}', '${description}', '[]', ${created}, ${updated}, 0, ${version}) s`;

/** Maximum number of users, and of keys, to name as affected when a set changes; with more, all caches are invalidated. */
const maxNamed = 1_000;

/** Scope sets in SQL; `now` is the clock, in epoch milliseconds. */
export function createScopeSets(database: SqlDatabase, now: () => number) {
  const { dialect, one, many, snapshot } = database;
  const byIds = selectByIds(dialect);
  const list = createScopeSetList(dialect);
  const writes = new JudgedWrites(database, now);

  return {
    findScopeSets: (ids) =>
      many(byIds, [JSON.stringify(ids)], (rows: readonly ScopeSetRow[]) => {
        const stored = rows.map(toScopeSet);
        return ids.includes(administratorSetId) ? [administratorSet, ...stored] : stored;
      }),
    findScopeSetByName(name) {
      if (name === administratorSet.name) return administratorSet;
      return one(byName, [name], (row: ScopeSetRow | undefined) => row && toScopeSet(row));
    },
    listScopeSets: (query) => snapshot(() => list(query)),
    findScopeSet(id) {
      if (id === administratorSetId) return administratorRecord;
      return one(byId, [id], (row: ScopeSetRow | undefined) => row && toScopeSetRecord(row));
    },
    createScopeSet: (change) =>
      writes.make(
        change,
        () => given(null),
        (_, set) => insert(set, now()),
      ),
    async changeScopeSet(id, change) {
      const update = (found: ScopeSetRecord, changes: ScopeSetChanges) => write(found, changes, now());
      return (await writes.makeFound(change, () => findScopeSetRecord(id), update))?.after;
    },
    async removeScopeSet(id, change) {
      return (await writes.makeFound(change, () => findScopeSetRecord(id), remove)) !== undefined;
    },
  } satisfies Partial<Records>;
}

function createScopeSetList(dialect: Dialect) {
  const columns: Readonly<Record<ScopeSetFilterField, FilterColumn>> = {
    name: { column: 's.name' },
    managed: { column: 's.managed' },
    created: { column: 's.created' },
    updated: { column: 's.updated' },
    scopes: {
      column: 's.scopes',
      contains(scope) {
        const { sql, values } = containsElement(dialect, 's.scopes', scope);
        return { sql: `(s.id = '${administratorSetId}' OR ${sql})`, values };
      },
    },
  };
  return createList<ScopeSetQuery, ScopeSetRow, ScopeSetRecord>(dialect, {
    from: everySet,
    select: `SELECT ${scopeSetColumns} FROM ${everySet}`,
    id: 's.id',
    row: 's.id',
    order: { name: { column: 's.name' }, created: { column: 's.created' }, updated: { column: 's.updated' } },
    conditions: ({ filters }) => fieldConditions(dialect, columns, filters),
    toItem: toScopeSetRecord,
  });
}

/**
 * Builds the steps that read sets by id, the built-in one first. They refuse `conflict` if one is missing: it may have been
 * removed since the request was validated.
 */
export function createRequireSets(dialect: Dialect): (ids: readonly string[]) => Steps<readonly ScopeSet[]> {
  const byIds = selectByIds(dialect);
  return function* requireSets(ids) {
    const stored = ids.filter((id) => id !== administratorSetId);
    const rows = stored.length === 0 ? [] : yield* all<ScopeSetRow>(byIds, JSON.stringify(stored));
    if (rows.length < stored.length) throw new Refusal('conflict');
    const sets = rows.map(toScopeSetRecord);
    return stored.length < ids.length ? [administratorSet, ...sets] : sets;
  };
}

function selectByIds({ elementsOf }: Dialect): string {
  return `${selectScopeSet} WHERE s.id IN (SELECT value FROM ${elementsOf('?')}) ORDER BY s.id`;
}

function* insert({ id, name, description, scopes }: NewScopeSet, now: number): Steps<ScopeSetRecord> {
  yield* requireFreeName(name, id);
  yield* run(insertSet, id, name, description, JSON.stringify(scopes), now, now);
  return (yield* findScopeSetRecord(id))!;
}

function* write(
  before: ScopeSetRecord,
  changes: ScopeSetChanges,
  now: number,
): Steps<Changed<ScopeSetRecord>> {
  const { id, name, description, scopes } = { ...before, ...changes };
  const written = JSON.stringify([name, description, scopes]);
  if (written === JSON.stringify([before.name, before.description, before.scopes]))
    return { before, after: before };
  // An earlier version may have accepted a name that is refused now: its set can still be changed.
  if (name !== before.name) yield* requireFreeName(name, id);
  yield* run(updateSet, name, description, JSON.stringify(scopes), now, id);
  yield* noteHolders(id);
  return { before, after: (yield* findScopeSetRecord(id))! };
}

function* remove(found: ScopeSetRecord): Steps<ScopeSetRecord> {
  if (yield* isHeld(found.id)) throw new Refusal('in_use');
  yield* run(deleteSet, found.id);
  return found;
}

/** Reads a set, which may be the built-in one; undefined when there is none. */
export function* findScopeSetRecord(id: string): Steps<ScopeSetRecord | undefined> {
  if (id === administratorSetId) return administratorRecord;
  const row = yield* first<ScopeSetRow>(byId, id);
  return row && toScopeSetRecord(row);
}

function* requireFreeName(name: string, forId: string): Steps<void> {
  const holder = yield* first<{ readonly id: string }>('SELECT id FROM scope_sets WHERE name = ?', name);
  const isTaken = readsAsBuiltInSet(name) || (holder !== undefined && holder.id !== forId);
  if (isTaken) throw new Refusal('conflict');
}

function* isHeld(id: string): Steps<boolean> {
  const holder = (yield* first(selectUserOf, id, 1)) ?? (yield* first(selectKeyOf, id, 1));
  return holder !== undefined;
}

/** Notes that the holders of a set have changed, so that caches drop them. */
export function* noteHolders(id: string): Steps<void> {
  const users = yield* all<{ readonly id: string }>(selectUserOf, id, maxNamed + 1);
  const keys = yield* all<{ readonly id: string }>(selectKeyOf, id, maxNamed + 1);
  if (users.length > maxNamed || keys.length > maxNamed) yield* noteChange({ isEverything: true });
  else yield* noteChange({ users: users.map((user) => user.id), keys: keys.map((key) => key.id) });
}

/** Parses a row of {@link selectScopeSet}. */
export function toScopeSetRecord(row: ScopeSetRow): ScopeSetRecord {
  return { ...row, scopes: JSON.parse(row.scopes) as string[], managed: row.managed === 1 };
}

function toScopeSet(row: ScopeSetRow): ScopeSet {
  const { managed: _managed, version: _version, ...set } = toScopeSetRecord(row);
  return set;
}
