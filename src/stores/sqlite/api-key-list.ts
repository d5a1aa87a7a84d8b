import type Database from 'better-sqlite3';
import type {
  ApiKeyFilters,
  ApiKeyPage,
  ApiKeyQuery,
  ApiKeySortField,
  ApiKeyStatus,
  Comparison,
} from '../records.ts';
import { type ApiKeyRow, selectApiKey, toApiKey } from './api-key-row.ts';

type Value = string | number;

interface Condition {
  readonly sql: string;
  readonly values: readonly Value[];
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

/** One page of the key list; runs in the caller's transaction. */
export function listApiKeys(db: Database.Database, query: ApiKeyQuery): ApiKeyPage {
  const filters = filterConditions(query.filters, query.now);
  const few = filters.length === 0 ? undefined : findFew(db, filters);
  const total = few?.length ?? count(db, filters);

  // Reading towards the start is reading the opposite order and turning the page round.
  const ascending = (query.sortOrder === 'asc') !== (query.backwards ?? false);
  const matching = few ? [oneOf(few)] : filters;
  const conditions = [...matching, ...positionCondition(query, ascending)];
  const direction = ascending ? 'ASC' : 'DESC';
  const rows = db
    .prepare<Value[], ApiKeyRow>(
      `${selectApiKey}${whereClause(conditions)}
        ORDER BY ${orderColumns[query.sortBy]} ${direction}, k.id ${direction} LIMIT ?`,
    )
    .all(...valuesOf(conditions), query.size + 1);
  const items = rows.slice(0, query.size).map(toApiKey);
  if (query.backwards) items.reverse();
  const beyond = rows.length > query.size;
  const behind = isAnythingBehind(db, query, matching, ascending);
  return query.backwards
    ? { items, total, before: beyond, after: behind }
    : { items, total, before: behind, after: beyond };
}

/** Whether a match lies on the other side of `from` than what is read. */
function isAnythingBehind(
  db: Database.Database,
  query: ApiKeyQuery,
  matching: readonly Condition[],
  ascending: boolean,
): boolean {
  if (query.from === undefined) return false;
  const otherSide = positionCondition({ ...query, inclusive: !query.inclusive }, !ascending);
  const conditions = [...matching, ...otherSide];
  const any = db.prepare<Value[]>(`SELECT 1 FROM api_keys k${whereClause(conditions)} LIMIT 1`);
  return any.get(...valuesOf(conditions)) !== undefined;
}

/** The rowids of all matches if they are few. */
function findFew(db: Database.Database, filters: readonly Condition[]): readonly number[] | undefined {
  const rowids = db
    .prepare<Value[], number>(`SELECT k.rowid FROM api_keys k${whereClause(filters)} LIMIT ?`)
    .pluck()
    .all(...valuesOf(filters), fewMatches + 1);
  return rowids.length > fewMatches ? undefined : rowids;
}

function count(db: Database.Database, filters: readonly Condition[]): number {
  return db
    .prepare<Value[], number>(`SELECT count(*) FROM api_keys k${whereClause(filters)}`)
    .pluck()
    .get(...valuesOf(filters))!;
}

function oneOf(rowids: readonly number[]): Condition {
  return { sql: 'k.rowid IN (SELECT value FROM json_each(?))', values: [JSON.stringify(rowids)] };
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

function filterConditions(filters: ApiKeyFilters, now: number): readonly Condition[] {
  const conditions: Condition[] = [];
  const add = (sql: string, ...values: Value[]) => conditions.push({ sql, values });
  // LIKE folds ASCII alone, which is what is asked for.
  if (filters.labelContains !== undefined) {
    add("k.label LIKE ? ESCAPE '\\'", `%${filters.labelContains.replace(/[\\%_]/g, '\\$&')}%`);
  }
  if (filters.labelEq !== undefined) add('k.label = ?', filters.labelEq);
  for (const { field, comparison, value } of filters.instants ?? []) {
    add(`${orderColumns[field]} ${operators[comparison]} ?`, value);
  }
  if (filters.expiresIsNull !== undefined) add(`k.expires IS ${nullness(filters.expiresIsNull)}`);
  if (filters.lastUsedIsNull !== undefined) add(`k.last_used IS ${nullness(filters.lastUsedIsNull)}`);
  // Scopes hold no quote (RFC 6749 §3.3), so what stands between two is a whole scope of the JSON list.
  for (const scope of filters.scopesContain ?? []) add('instr(k.scopes, ?) > 0', JSON.stringify(scope));
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
