import { Refusal } from '../../errors.ts';
import { readsAsBuiltInSet } from '../../rules/set-name.ts';
import { administratorRecord, administratorSet } from '../administrator-set.ts';
import type { JudgedChange } from '../caller.ts';
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

/** A change of a set names each of up to so many holders; with more, everything cached is invalidated. */
const maxNamed = 1_000;

/** Scope sets in SQL; `now` is the clock, in epoch milliseconds. */
export function createScopeSets(database: SqlDatabase, now: () => number): ScopeSets {
  const { dialect, one, many, snapshot } = database;
  const byIds = `${selectScopeSet} WHERE s.id IN (SELECT value FROM ${dialect.elementsOf('?')}) ORDER BY s.id`;
  const list = createScopeSetList(dialect);
  const steps = new ScopeSetSteps(createFindCaller(dialect), now);

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
    createScopeSet: (write) => writeAudited(database, now, () => steps.create(write), write.audit),
    async changeScopeSet(id, write) {
      const change = () => steps.change(id, write);
      return (await writeAudited(database, now, change, whereFound(write.audit)))?.after;
    },
    async removeScopeSet(id, write) {
      const remove = () => steps.remove(id, write);
      return (await writeAudited(database, now, remove, whereFound(write.audit))) !== undefined;
    },
  };
}

/** The transactions that change scope sets. */
class ScopeSetSteps {
  readonly #findCaller: ReturnType<typeof createFindCaller>;
  readonly #now: () => number;

  constructor(findCaller: ReturnType<typeof createFindCaller>, now: () => number) {
    this.#findCaller = findCaller;
    this.#now = now;
  }

  *create({ caller, decide }: JudgedChange<null, NewScopeSet, ScopeSetRecord>): Steps<ScopeSetRecord> {
    const { id, name, description, scopes } = decide(null, yield* this.#findCaller(caller));
    yield* requireFreeName(name, id);
    const instant = this.#now();
    yield* run(insertSet, id, name, description, JSON.stringify(scopes), instant, instant);
    return (yield* findRecord(id))!;
  }

  *change(
    id: string,
    { caller, decide }: JudgedChange<ScopeSetRecord, ScopeSetChanges, Changed<ScopeSetRecord>>,
  ): Steps<Changed<ScopeSetRecord> | undefined> {
    const found = yield* findRecord(id);
    return found && (yield* this.#update(found, decide(found, yield* this.#findCaller(caller))));
  }

  *remove(
    id: string,
    { caller, decide }: JudgedChange<ScopeSetRecord, void, ScopeSetRecord>,
  ): Steps<ScopeSetRecord | undefined> {
    const found = yield* findRecord(id);
    if (found === undefined) return undefined;
    decide(found, yield* this.#findCaller(caller));
    if (yield* isHeld(id)) throw new Refusal('in_use');
    yield* run(deleteSet, id);
    return found;
  }

  *#update(before: ScopeSetRecord, changes: ScopeSetChanges): Steps<Changed<ScopeSetRecord>> {
    const { id, name, description, scopes } = { ...before, ...changes };
    const written = JSON.stringify([name, description, scopes]);
    if (written === JSON.stringify([before.name, before.description, before.scopes]))
      return { before, after: before };
    // An earlier version may have let a name through that is refused now: its set can be changed all the same.
    if (name !== before.name) yield* requireFreeName(name, id);
    yield* run(updateSet, name, description, JSON.stringify(scopes), this.#now(), id);
    yield* noteHolders(id);
    return { before, after: (yield* findRecord(id))! };
  }
}

function* findRecord(id: string): Steps<ScopeSetRecord | undefined> {
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
