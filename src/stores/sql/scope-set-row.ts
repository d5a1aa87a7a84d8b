import type { ScopeSetRecord } from '../scope-set-records.ts';

/** A scope set as a database gives it. */
export interface ScopeSetRow extends Omit<ScopeSetRecord, 'scopes' | 'managed'> {
  readonly scopes: string;
  readonly managed: number;
}

/** The columns of {@link ScopeSetRow}. */
export const scopeSetColumns =
  's.id, s.name, s.description, s.scopes, s.created, s.updated, s.managed, s.version';

/** Selects stored scope sets; a WHERE clause may follow. */
export const selectScopeSet = `SELECT ${scopeSetColumns} FROM scope_sets s`;

/** Reads a row of {@link selectScopeSet}. */
export function toScopeSetRecord(row: ScopeSetRow): ScopeSetRecord {
  return { ...row, scopes: JSON.parse(row.scopes) as string[], managed: row.managed === 1 };
}
