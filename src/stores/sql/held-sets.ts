import { administratorSet } from '../administrator-set.ts';
import { administratorSetId, type ScopeSet } from '../scope-set.ts';
import type { Dialect } from './dialect.ts';

/** The sets that a user or a key holds: the ids of all, and the sets themselves as far as they exist. */
export interface HeldSets {
  readonly ids: readonly string[];
  readonly sets: readonly ScopeSet[];
}

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
 * SQL for a column with all sets of a user or key, by id, so that one query reads the holder with its sets; {@link parseHeldSets}
 * parses the column. In `table`, `ownerColumn` has the holder's id; `ownerId` is SQL for that id in the outer query.
 */
export function selectHeldSets(
  dialect: Dialect,
  table: string,
  ownerColumn: string,
  ownerId: string,
): string {
  const scopes = dialect.json('s.scopes');
  const set = `${dialect.tuple}(h.set_id, s.name, s.description, ${scopes}, s.created, s.updated)`;
  return `(SELECT ${dialect.arrayOf(set, 'h.set_id')}
    FROM ${table} h LEFT JOIN scope_sets s ON s.id = h.set_id
    WHERE h.${ownerColumn} = ${ownerId})`;
}

/** Parses the column of {@link selectHeldSets}. */
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

/** SQL that adds sets to a user or a key; its values are the id of the holder, and the ids of the sets as a JSON array. */
export function insertHeldSets(dialect: Dialect, table: string, ownerColumn: string): string {
  // Without WHERE, SQLite would parse ON as part of a join.
  return `INSERT INTO ${table} (${ownerColumn}, set_id)
    SELECT ?, e.value FROM ${dialect.elementsOf('?')} e WHERE true ON CONFLICT DO NOTHING`;
}
