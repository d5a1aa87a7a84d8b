import type { ListedApiKey } from '../api-key.ts';
import type { ApiKeyQuery, ApiKeyStatus } from '../api-key-query.ts';
import type { ListPage } from '../list-query.ts';
import { type ApiKeyRow, selectApiKey, toApiKey } from './api-key-row.ts';
import type { Condition, Dialect } from './dialect.ts';
import { createList } from './list.ts';
import { comparisonOperators, containsElement, nullCondition } from './list-conditions.ts';
import type { Steps, Value } from './steps.ts';

/** Expired wins over suspended over active; a removed owner suspends nothing. `?` is now. */
const statusConditions = {
  expired: 'k.expires_order <= ?',
  suspended: 'k.expires_order > ? AND k.created_by IN (SELECT id FROM users WHERE disabled = 1)',
  active: 'k.expires_order > ? AND k.created_by NOT IN (SELECT id FROM users WHERE disabled = 1)',
} as const satisfies Record<ApiKeyStatus, string>;

const orderColumns = {
  created: { column: 'k.created' },
  label: { column: 'k.label' },
  expires: { column: 'k.expires_order', nullValue: Number.MAX_SAFE_INTEGER },
  last_used: { column: 'k.last_used_order', nullValue: -Number.MAX_SAFE_INTEGER },
} as const;

/** Builds the list of keys: steps that read one page in one snapshot. */
export function createApiKeyList(dialect: Dialect): (query: ApiKeyQuery) => Steps<ListPage<ListedApiKey>> {
  return createList<ApiKeyQuery, ApiKeyRow, ListedApiKey>(dialect, {
    from: 'api_keys k',
    select: selectApiKey(dialect),
    countAll: dialect.countRows('api_keys'),
    id: 'k.id',
    row: `k.${dialect.keyRow}`,
    order: orderColumns,
    conditions: (query) => filterConditions(dialect, query),
    toItem: toApiKey,
  });
}

function filterConditions(dialect: Dialect, { filters, now }: ApiKeyQuery): readonly Condition[] {
  const conditions: Condition[] = [];
  const add = (sql: string, ...values: Value[]) => conditions.push({ sql, values });
  if (filters.labelContains !== undefined)
    conditions.push(dialect.contains('k.label', filters.labelContains));
  if (filters.labelEq !== undefined) add('k.label = ?', filters.labelEq);
  for (const { field, comparison, value } of filters.instants ?? [])
    add(`${orderColumns[field].column} ${comparisonOperators[comparison]} ?`, value);
  const { expiresIsNull, lastUsedIsNull } = filters;
  if (expiresIsNull !== undefined) conditions.push(nullCondition(orderColumns.expires, expiresIsNull));
  if (lastUsedIsNull !== undefined) conditions.push(nullCondition(orderColumns.last_used, lastUsedIsNull));
  // Scopes contain no quotes (RFC 6749 §3.3).
  for (const scope of filters.scopesContain ?? [])
    conditions.push(containsElement(dialect, 'k.scopes', scope));
  if (filters.createdByEq !== undefined) add('k.created_by = ?', filters.createdByEq);
  if (filters.statusEq !== undefined) add(statusConditions[filters.statusEq], now);
  return conditions;
}
