import { administratorSet } from '../administrator-set.ts';
import type { Records } from '../records.ts';
import { administratorSetId, type ScopeSet } from '../scope-set.ts';
import type { SqlDatabase } from './database.ts';

/** The part of the records store for scope sets. */
export type ScopeSets = Pick<Records, 'findScopeSets' | 'findScopeSetByName'>;

type ScopeSetRow = Omit<ScopeSet, 'scopes'> & { readonly scopes: string };

/** Scope sets in SQL. */
export function createScopeSets({ dialect, one, many }: SqlDatabase): ScopeSets {
  const select = 'SELECT id, name, description, scopes, created, updated FROM scope_sets';
  const byIds = `${select} WHERE id IN (SELECT value FROM ${dialect.elementsOf('?')}) ORDER BY id`;
  const byName = `${select} WHERE name = ?`;

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
  };
}

function toScopeSet(row: ScopeSetRow): ScopeSet {
  return { ...row, scopes: JSON.parse(row.scopes) as string[] };
}
