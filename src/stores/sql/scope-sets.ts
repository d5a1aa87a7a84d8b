import { Refusal } from '../../errors.ts';
import { administratorRecord, administratorSet } from '../administrator-set.ts';
import type { Records } from '../records.ts';
import { administratorSetId, type ScopeSet } from '../scope-set.ts';
import type { Changed, NewScopeSet, ScopeSetChanges, ScopeSetRecord } from '../scope-set-records.ts';
import { whereFound, writeAudited } from './audit-events.ts';
import { createFindCaller } from './callers.ts';
import type { SqlDatabase } from './database.ts';
import { createScopeSetList } from './scope-set-list.ts';
import { type ScopeSetRow, selectScopeSet, toScopeSetRecord } from './scope-set-row.ts';
import { all, first, noteChange, noteEveryChange, run, type Steps } from './steps.ts';

/** The part of the records store for scope sets. */
export type ScopeSets = Pick<
  Records,
  | 'findScopeSets'
  | 'findScopeSetByName'
  | 'listScopeSets'
  | 'findScopeSet'
  | 'createScopeSet'
  | 'changeScopeSet'
  | 'removeScopeSet'
>;

const byName = `${selectScopeSet} WHERE s.name = ?`;
const byId = `${selectScopeSet} WHERE s.id = ?`;
const insertSet = `INSERT INTO scope_sets (id, name, description, scopes, created, updated)
  VALUES (?, ?, ?, ?, ?, ?)`;
const updateSet = `UPDATE scope_sets SET name = ?, description = ?, scopes = ?, updated = ?, version = version + 1
  WHERE id = ?`;
const deleteSet = 'DELETE FROM scope_sets WHERE id = ?';
const selectUserOf = 'SELECT DISTINCT user_id AS id FROM held_scope_sets WHERE set_id = ? LIMIT ?';
const selectKeyOf = 'SELECT key_id AS id FROM api_key_scope_sets WHERE set_id = ? LIMIT ?';

/** Of so many holders each is named when a set is changed; of more, everything that is remembered is forgotten. */
const mostNamed = 1_000;

/** Scope sets in SQL; `now` is the clock, in epoch milliseconds. */
export function createScopeSets(database: SqlDatabase, now: () => number): ScopeSets {
  const { dialect, one, many, snapshot } = database;
  const byIds = `${selectScopeSet} WHERE s.id IN (SELECT value FROM ${dialect.elementsOf('?')}) ORDER BY s.id`;
  const findCaller = createFindCaller(dialect);
  const list = createScopeSetList(dialect);

  function* find(id: string): Steps<ScopeSetRecord | undefined> {
    if (id === administratorSetId) return administratorRecord;
    const row = yield* first<ScopeSetRow>(byId, id);
    return row && toScopeSetRecord(row);
  }

  function* add({ id, name, description, scopes }: NewScopeSet): Steps<ScopeSetRecord> {
    yield* requireFreeName(name, id);
    const instant = now();
    yield* run(insertSet, id, name, description, JSON.stringify(scopes), instant, instant);
    return (yield* find(id))!;
  }

  function* update(before: ScopeSetRecord, changes: ScopeSetChanges): Steps<Changed<ScopeSetRecord>> {
    const { id, name, description, scopes } = { ...before, ...changes };
    const written = JSON.stringify([name, description, scopes]);
    if (written === JSON.stringify([before.name, before.description, before.scopes]))
      return { before, after: before };
    yield* requireFreeName(name, id);
    yield* run(updateSet, name, description, JSON.stringify(scopes), now(), id);
    yield* noteHolders(id);
    return { before, after: (yield* find(id))! };
  }

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
    createScopeSet: ({ caller, decide, audit }) =>
      writeAudited(
        database,
        now,
        function* () {
          return yield* add(decide(null, yield* findCaller(caller)));
        },
        audit,
      ),
    async changeScopeSet(id, { caller, decide, audit }) {
      const changed = await writeAudited(
        database,
        now,
        function* () {
          const found = yield* find(id);
          return found && (yield* update(found, decide(found, yield* findCaller(caller))));
        },
        whereFound(audit),
      );
      return changed?.after;
    },
    async removeScopeSet(id, { caller, decide, audit }) {
      const removed = await writeAudited(
        database,
        now,
        function* () {
          const found = yield* find(id);
          if (found === undefined) return undefined;
          decide(found, yield* findCaller(caller));
          if (yield* isHeld(id)) throw new Refusal('in_use');
          yield* run(deleteSet, id);
          return found;
        },
        whereFound(audit),
      );
      return removed !== undefined;
    },
  };
}

function* requireFreeName(name: string, forId: string): Steps<void> {
  const holder = yield* first<{ readonly id: string }>('SELECT id FROM scope_sets WHERE name = ?', name);
  const isTaken = name === administratorSet.name || (holder !== undefined && holder.id !== forId);
  if (isTaken) throw new Refusal('conflict');
}

function* isHeld(id: string): Steps<boolean> {
  const holder = (yield* first(selectUserOf, id, 1)) ?? (yield* first(selectKeyOf, id, 1));
  return holder !== undefined;
}

/** Whoever holds the set is not who they were. */
function* noteHolders(id: string): Steps<void> {
  const users = yield* all<{ readonly id: string }>(selectUserOf, id, mostNamed + 1);
  const keys = yield* all<{ readonly id: string }>(selectKeyOf, id, mostNamed + 1);
  if (users.length > mostNamed || keys.length > mostNamed) yield* noteEveryChange();
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
