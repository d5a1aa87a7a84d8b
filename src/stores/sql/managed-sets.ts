import { uuidv7 } from 'uuidv7';
import type { ManagedChanges, ManagedConflict, ManagedScopeSet } from '../managed-records.ts';
import { administratorSetId } from '../scope-set.ts';
import type { Changed, ScopeSetRecord } from '../scope-set-records.ts';
import type { Dialect } from './dialect.ts';
import {
  findScopeSetRecord,
  noteHolders,
  type ScopeSetRow,
  selectScopeSet,
  toScopeSetRecord,
} from './scope-sets.ts';
import { all, run, type Steps } from './steps.ts';

const insertSet = `INSERT INTO scope_sets (id, name, description, scopes, created, updated, managed)
  VALUES (?, ?, ?, ?, ?, ?, 1)`;
const updateSet = `UPDATE scope_sets SET description = ?, scopes = ?, managed = ?, updated = ?, version = version + 1
  WHERE id = ?`;

/** Outcome of writing the sets of a configuration. */
interface WrittenSets extends Pick<ManagedChanges, 'createdSets' | 'changedSets'> {
  /** Ids of the sets by name, the built-in set included. */
  readonly ids: ReadonlyMap<string, string>;
}

/** Transaction steps that make the scope sets match a configuration. */
export class ManagedSets {
  readonly #relevant: string;
  readonly #now: () => number;

  constructor({ elementsOf }: Dialect, now: () => number) {
    this.#relevant = `${selectScopeSet} WHERE s.managed = 1 OR s.name IN (SELECT value FROM ${elementsOf('?')})`;
    this.#now = now;
  }

  /** Reads the sets that are managed, or whose name is in the configuration; by name. */
  *read(wanted: readonly ManagedScopeSet[]): Steps<ReadonlyMap<string, ScopeSetRecord>> {
    const names = JSON.stringify(wanted.map(({ name }) => name));
    const rows = yield* all<ScopeSetRow>(this.#relevant, names);
    return new Map(rows.map((row) => [row.name, toScopeSetRecord(row)]));
  }

  conflicts(
    wanted: readonly ManagedScopeSet[],
    found: ReadonlyMap<string, ScopeSetRecord>,
  ): readonly ManagedConflict[] {
    return wanted
      .filter(({ name, adopt }) => !adopt && found.get(name)?.managed === false)
      .map(({ name }) => ({ problem: 'unmanaged', type: 'scope_set', key: name }));
  }

  *write(wanted: readonly ManagedScopeSet[], found: ReadonlyMap<string, ScopeSetRecord>): Steps<WrittenSets> {
    const createdSets: ScopeSetRecord[] = [];
    const changedSets: Changed<ScopeSetRecord>[] = [];
    const ids = new Map([[administratorSetId, administratorSetId]]);
    for (const set of wanted) {
      const before = found.get(set.name);
      if (before === undefined) createdSets.push(yield* this.#create(set));
      else if (!isSame(before, set)) changedSets.push(yield* this.#update(before, { ...set, managed: true }));
      ids.set(set.name, before?.id ?? createdSets.at(-1)!.id);
    }
    for (const before of found.values())
      if (before.managed && !ids.has(before.name))
        changedSets.push(yield* this.#update(before, { ...before, managed: false }));
    return { createdSets, changedSets, ids };
  }

  *#create({ name, description, scopes }: ManagedScopeSet): Steps<ScopeSetRecord> {
    const id = uuidv7();
    const instant = this.#now();
    yield* run(insertSet, id, name, description, JSON.stringify(scopes), instant, instant);
    return (yield* findScopeSetRecord(id))!;
  }

  *#update(
    before: ScopeSetRecord,
    { description, scopes, managed }: Pick<ScopeSetRecord, 'description' | 'scopes' | 'managed'>,
  ): Steps<Changed<ScopeSetRecord>> {
    yield* run(updateSet, description, JSON.stringify(scopes), managed ? 1 : 0, this.#now(), before.id);
    yield* noteHolders(before.id);
    return { before, after: (yield* findScopeSetRecord(before.id))! };
  }
}

function isSame(before: ScopeSetRecord, { description, scopes }: ManagedScopeSet): boolean {
  return (
    before.managed &&
    before.description === description &&
    JSON.stringify(before.scopes) === JSON.stringify(scopes)
  );
}
