import { administratorSet } from '../administrator-set.ts';
import { administratorSetId, type Records, type ScopeSet } from '../records.ts';
import type { Connection } from './connection.ts';

/** The part of the records store about scope sets. */
export type ScopeSets = Pick<Records, 'findScopeSets' | 'findScopeSetByName'>;

/** The sets that a user or a key holds: all ids, and what exists of them. */
export interface HeldSets {
  readonly ids: readonly string[];
  readonly sets: readonly ScopeSet[];
}

type ScopeSetColumns = Omit<ScopeSet, 'scopes'> & { readonly scopes: string };
type HeldSetTuple = readonly [
  id: string,
  name: string | null,
  description: string,
  scopes: readonly string[],
  created: number,
  updated: number,
];

const none: HeldSets = Object.freeze({ ids: Object.freeze([]), sets: Object.freeze([]) });

/**
 * SQL of one column that holds all sets of a row, by id, so that the row and its sets are read in one step;
 * {@link parseHeldSets} reads it.
 */
export function selectHeldSets(table: string, ownerColumn: string, ownerId: string): string {
  return `(SELECT json_group_array(
      json_array(h.set_id, s.name, s.description, json(s.scopes), s.created, s.updated) ORDER BY h.set_id)
    FROM ${table} h LEFT JOIN scope_sets s ON s.id = h.set_id
    WHERE h.${ownerColumn} = ${ownerId})`;
}

/** Reads the column that {@link selectHeldSets} makes. */
export function parseHeldSets(column: string): HeldSets {
  if (column === '[]') return none;
  const tuples = JSON.parse(column) as readonly HeldSetTuple[];
  const sets: ScopeSet[] = [];
  for (const [id, name, description, scopes, created, updated] of tuples) {
    if (id === administratorSetId) sets.push(administratorSet);
    else if (name !== null) sets.push({ id, name, description, scopes, created, updated });
  }
  return { ids: tuples.map(([id]) => id), sets };
}

/** Scope sets on SQLite. */
export function createScopeSets({ db, read }: Connection): ScopeSets {
  const columns = 'id, name, description, scopes, created, updated';
  const byIds = db.prepare<[string], ScopeSetColumns>(
    `SELECT ${columns} FROM scope_sets WHERE id IN (SELECT value FROM json_each(?)) ORDER BY id`,
  );
  const byName = db.prepare<[string], ScopeSetColumns>(`SELECT ${columns} FROM scope_sets WHERE name = ?`);

  return {
    findScopeSets(ids) {
      const stored = read(() => byIds.all(JSON.stringify(ids))).map(toScopeSet);
      return ids.includes(administratorSetId) ? [administratorSet, ...stored] : stored;
    },
    findScopeSetByName(name) {
      if (name === administratorSet.name) return administratorSet;
      const found = read(() => byName.get(name));
      return found && toScopeSet(found);
    },
  };
}

function toScopeSet(row: ScopeSetColumns): ScopeSet {
  return { ...row, scopes: JSON.parse(row.scopes) as string[] };
}
