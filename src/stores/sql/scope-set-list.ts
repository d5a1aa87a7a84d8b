import { administratorRecord } from '../administrator-set.ts';
import type { ListPage } from '../list-query.ts';
import { administratorSetId } from '../scope-set.ts';
import type { ScopeSetFilterField, ScopeSetQuery, ScopeSetRecord } from '../scope-set-records.ts';
import type { Condition, Dialect } from './dialect.ts';
import { createList } from './list.ts';
import { containsElement, type FilterColumn, fieldConditions } from './list-conditions.ts';
import { type ScopeSetRow, scopeSetColumns, toScopeSetRecord } from './scope-set-row.ts';
import type { Steps } from './steps.ts';

const { description, created, updated, version } = administratorRecord;

/** The stored sets and the built-in one. Sets are few: no index has to serve this. */
const everySet = `(SELECT ${scopeSetColumns} FROM scope_sets s
  UNION ALL SELECT '${administratorSetId}', '${administratorSetId}', '${description}', '[]', ${created}, ${updated}, 0, ${version}) s`;

const columns: Readonly<Record<Exclude<ScopeSetFilterField, 'scopes'>, FilterColumn>> = {
  name: { column: 's.name' },
  managed: { column: 's.managed' },
  created: { column: 's.created' },
  updated: { column: 's.updated' },
};

/** Builds the list of scope sets, the built-in one included: steps that read one page, all of one moment. */
export function createScopeSetList(
  dialect: Dialect,
): (query: ScopeSetQuery) => Steps<ListPage<ScopeSetRecord>> {
  return createList<ScopeSetQuery, ScopeSetRow, ScopeSetRecord>(dialect, {
    from: everySet,
    select: `SELECT ${scopeSetColumns} FROM ${everySet}`,
    id: 's.id',
    row: 's.id',
    order: { name: { column: 's.name' }, created: { column: 's.created' }, updated: { column: 's.updated' } },
    conditions: (query) => conditionsOf(dialect, query),
    toItem: toScopeSetRecord,
  });
}

function conditionsOf(dialect: Dialect, { filters }: ScopeSetQuery): readonly Condition[] {
  return filters.flatMap(({ field, operator, value }) => {
    if (field !== 'scopes') return fieldConditions(dialect, columns, [{ field, operator, value }]);
    return [value].flat().map((scope) => {
      const contained = containsElement(dialect, 's.scopes', String(scope));
      return { sql: `(s.id = '${administratorSetId}' OR ${contained.sql})`, values: contained.values };
    });
  });
}
