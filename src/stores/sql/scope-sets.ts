import { Refusal } from '../../errors.ts';
import { readsAsBuiltInSet } from '../../rules/set-name.ts';
import { administratorRecord, administratorSet } from '../administrator-set.ts';
import type { Records } from '../records.ts';
import { administratorSetId, type ScopeSet } from '../scope-set.ts';
import type { Changed, NewScopeSet, ScopeSetChanges, ScopeSetRecord } from '../scope-set-records.ts';
import type { SqlDatabase } from './database.ts';
import { JudgedWrites } from './judged-writes.ts';
import { createScopeSetList } from './scope-set-list.ts';
import { type ScopeSetRow, selectScopeSet, toScopeSetRecord } from './scope-set-row.ts';
import { all, first, given, noteChange, noteEveryChange, run, type Steps } from './steps.ts';

const byName = `${selectScopeSet} WHERE s.name = ?`;
const byId = `${selectScopeSet} WHERE s.id = ?`;
const insertSet = `INSERT INTO scope_sets (id, name, description, scopes, created, updated)
  VALUES (?, ?, ?, ?, ?, ?)`;
const updateSet = `UPDATE scope_sets SET name = ?, description = ?, scopes = ?, updated = ?, version = version + 1
  WHERE id = ?`;
const deleteSet = 'DELETE FROM scope_sets WHERE id = ?';
const selectUserOf = 'SELECT DISTINCT user_id AS id FROM held_scope_sets WHERE set_id = ? LIMIT ?';
const selectKeyOf = 'SELECT key_id AS id FROM api_key_scope_sets WHERE set_id = ? LIMIT ?';

/** A change of a set names each of up to so many holders; with more, everything cached is invalidated. */
const maxNamed = 1_000;

/** Scope sets in SQL; `now` is the clock, in epoch milliseconds. */
export function createScopeSets(database: SqlDatabase, now: () => number) {
  const { dialect, one, many, snapshot } = database;
  const byIds = `${selectScopeSet} WHERE s.id IN (SELECT value FROM ${dialect.elementsOf('?')}) ORDER BY s.id`;
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
  // An earlier version may have let a name through that is refused now: its set can be changed all the same.
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

/** Reads a set, the built-in one included. */
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

/** Notes that what is cached of the holders of the set is out of date. */
export function* noteHolders(id: string): Steps<void> {
  const users = yield* all<{ readonly id: string }>(selectUserOf, id, maxNamed + 1);
  const keys = yield* all<{ readonly id: string }>(selectKeyOf, id, maxNamed + 1);
  if (users.length > maxNamed || keys.length > maxNamed) yield* noteEveryChange();
  else
    yield* noteChange(
      users.map((user) => user.id),
      keys.map((key) => key.id),
    );
}

function toScopeSet(row: ScopeSetRow): ScopeSet {
  const { managed: _managed, version: _version, ...set } = toScopeSetRecord(row);
  return set;
}
