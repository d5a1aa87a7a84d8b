import type {
  ApiKeyFilters,
  ApiKeyQuery,
  ApiKeySortField,
  ApiKeyStatus,
  Comparison,
} from '../api-key-query.ts';
import type { ApiKeyPage } from '../records.ts';
import { type ApiKeyRow, selectApiKey, toApiKey } from './api-key-row.ts';
import type { Condition, Dialect } from './dialect.ts';
import { all, first, type Steps, type Value } from './steps.ts';

/** Where some keys are, as a JSON array, and how many they are. */
interface Few {
  readonly total: number;
  readonly places: string;
}

/** So many matches are sorted at once; where there are more, the index of the order soon meets a page of them. */
const fewMatches = 1_000;

/** The column that orders by a field, its null at its far end. */
const orderColumns = {
  created: 'k.created',
  label: 'k.label',
  expires: 'k.expires_order',
  last_used: 'k.last_used_order',
} as const satisfies Record<ApiKeySortField, string>;

/** What the order columns hold for null. */
const nullOrder = {
  created: 0,
  label: '',
  expires: Number.MAX_SAFE_INTEGER,
  last_used: -Number.MAX_SAFE_INTEGER,
};

const operators = { gt: '>', gte: '>=', lt: '<', lte: '<=' } as const satisfies Record<Comparison, string>;

/** Expired wins over suspended over active; a removed owner suspends nothing. `?` is now. */
const statusConditions = {
  expired: 'k.expires_order <= ?',
  suspended: 'k.expires_order > ? AND k.created_by IN (SELECT id FROM users WHERE disabled = 1)',
  active: 'k.expires_order > ? AND k.created_by NOT IN (SELECT id FROM users WHERE disabled = 1)',
} as const satisfies Record<ApiKeyStatus, string>;

/** Makes the list of keys: steps that read one page, all of one moment. */
export function createApiKeyList(dialect: Dialect): (query: ApiKeyQuery) => Steps<ApiKeyPage> {
  const select = selectApiKey(dialect);
  const { keyRow } = dialect;

  /** Where all matches are, if they are few. */
  function* findFew(filters: readonly Condition[]): Steps<Few | undefined> {
    const matches = `SELECT k.${keyRow} AS place FROM api_keys k${whereClause(filters)} LIMIT ?`;
    const few = yield* first<Few>(
      `SELECT count(*) AS total, ${dialect.arrayOf('m.place')} AS places FROM (${matches}) m`,
      ...valuesOf(filters),
      fewMatches + 1,
    );
    return few!.total > fewMatches ? undefined : few;
  }

  return function* list(query) {
    const filters = filterConditions(dialect, query.filters, query.now);
    const few = filters.length === 0 ? undefined : yield* findFew(filters);
    const total = few?.total ?? (yield* count(filters));

    // Reading towards the start is reading the opposite order and turning the page round.
    const ascending = (query.sortOrder === 'asc') !== (query.backwards ?? false);
    const matching = few ? [oneOf(dialect, few.places)] : filters;
    const conditions = [...matching, ...positionCondition(query, ascending)];
    const direction = ascending ? 'ASC' : 'DESC';
    const order = `${orderColumns[query.sortBy]} ${direction}, k.id ${direction}`;
    const rows = yield* all<ApiKeyRow>(
      `${select}${whereClause(conditions)} ORDER BY ${order} LIMIT ?`,
      ...valuesOf(conditions),
      query.size + 1,
    );
    const items = rows.slice(0, query.size).map((row) => toApiKey(row));
    if (query.backwards) items.reverse();
    const beyond = rows.length > query.size;
    const behind = yield* isAnythingBehind(query, matching, ascending);
    return query.backwards
      ? { items, total, before: beyond, after: behind }
      : { items, total, before: behind, after: beyond };
  };
}

/** Whether a match lies on the other side of `from` than what is read. */
function* isAnythingBehind(
  query: ApiKeyQuery,
  matching: readonly Condition[],
  ascending: boolean,
): Steps<boolean> {
  if (query.from === undefined) return false;
  const otherSide = positionCondition({ ...query, inclusive: !query.inclusive }, !ascending);
  const conditions = [...matching, ...otherSide];
  const sql = `SELECT k.id FROM api_keys k${whereClause(conditions)} LIMIT 1`;
  return (yield* first(sql, ...valuesOf(conditions))) !== undefined;
}

function* count(filters: readonly Condition[]): Steps<number> {
  const sql = `SELECT count(*) AS total FROM api_keys k${whereClause(filters)}`;
  return (yield* first<{ readonly total: number }>(sql, ...valuesOf(filters)))!.total;
}

function oneOf({ keyRow, elementsOf }: Dialect, places: string): Condition {
  return { sql: `k.${keyRow} IN (SELECT value FROM ${elementsOf('?')})`, values: [places] };
}

function positionCondition(
  { from, inclusive, sortBy }: ApiKeyQuery,
  ascending: boolean,
): readonly Condition[] {
  if (from === undefined) return [];
  const operator = (ascending ? '>' : '<') + (inclusive ? '=' : '');
  const sql = `(${orderColumns[sortBy]}, k.id) ${operator} (?, ?)`;
  return [{ sql, values: [from.value ?? nullOrder[sortBy], from.id] }];
}

function filterConditions(dialect: Dialect, filters: ApiKeyFilters, now: number): readonly Condition[] {
  const conditions: Condition[] = [];
  const add = (sql: string, ...values: Value[]) => conditions.push({ sql, values });
  if (filters.labelContains !== undefined)
    conditions.push(dialect.contains('k.label', filters.labelContains));
  if (filters.labelEq !== undefined) add('k.label = ?', filters.labelEq);
  for (const { field, comparison, value } of filters.instants ?? []) {
    add(`${orderColumns[field]} ${operators[comparison]} ?`, value);
  }
  if (filters.expiresIsNull !== undefined) add(`k.expires IS ${nullness(filters.expiresIsNull)}`);
  if (filters.lastUsedIsNull !== undefined) add(`k.last_used IS ${nullness(filters.lastUsedIsNull)}`);
  // Scopes hold no quote (RFC 6749 §3.3), so what stands between two is a whole scope of the JSON list.
  for (const scope of filters.scopesContain ?? [])
    add(`${dialect.position}(k.scopes, ?) > 0`, JSON.stringify(scope));
  if (filters.createdByEq !== undefined) add('k.created_by = ?', filters.createdByEq);
  if (filters.statusEq !== undefined) add(statusConditions[filters.statusEq], now);
  return conditions;
}

function nullness(isNull: boolean): string {
  return isNull ? 'NULL' : 'NOT NULL';
}

function whereClause(conditions: readonly Condition[]): string {
  return conditions.length === 0 ? '' : ` WHERE ${conditions.map(({ sql }) => sql).join(' AND ')}`;
}

function valuesOf(conditions: readonly Condition[]): Value[] {
  return conditions.flatMap(({ values }) => values);
}
