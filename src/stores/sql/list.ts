import type { Comparison, FieldFilter, ListPage, ListQuery } from '../list-query.ts';
import type { Condition, Dialect } from './dialect.ts';
import { all, first, type Steps, type Value } from './steps.ts';

/** The table that a list reads, and the SQL to read it with. */
export interface ListTable<Query extends ListQuery<string, unknown>, Row, Item> {
  /** The table and its alias, for FROM. */
  readonly from: string;
  /** Query that selects items with everything they show; a WHERE clause may follow. */
  readonly select: string;
  /** Query for the number of all items, as `total`; set only if it costs less than counting the rows of `from`. */
  readonly countAll?: string;
  /** The column with the id of an item, which breaks ties in the order. */
  readonly id: string;
  /** The column by which a row is found at the lowest cost; it holds texts, or on SQLite values of any type. */
  readonly row: string;
  /** The columns that order the list, by sort field. */
  readonly order: Readonly<Record<Query['sortBy'], OrderColumn>>;
  conditions(query: Query): readonly Condition[];
  toItem(row: Row): Item;
}

/** A column that orders a list; it is never null. */
export interface OrderColumn {
  readonly column: string;
  /** The column's value where the field is null; absent: the field is never null. */
  readonly nullValue?: number;
}

/** All matches of the filters, when there are few: their number, and the values of {@link ListTable.row} as a JSON array. */
interface FewMatches {
  readonly total: number;
  readonly rows: string;
}

/** The conditions that select the matches of a query. */
interface Matching {
  readonly conditions: readonly Condition[];
  /** True if the conditions name the rows of a few matches, to be sorted; false if the table is read in the order of the list. */
  readonly areFew: boolean;
}

/** Maximum number of matches that are sorted. With more, a scan of the index in list order soon finds a page of them. */
const maxFewMatches = 1_000;

/** Builds the steps that read one page of a list; they must be run in one snapshot. */
export function createList<Query extends ListQuery<string, unknown>, Row, Item>(
  dialect: Dialect,
  table: ListTable<Query, Row, Item>,
): (query: Query) => Steps<ListPage<Item>> {
  const list = new List(dialect, table);
  return (query) => list.read(query);
}

class List<Query extends ListQuery<string, unknown>, Row, Item> {
  readonly #dialect: Dialect;
  readonly #table: ListTable<Query, Row, Item>;

  constructor(dialect: Dialect, table: ListTable<Query, Row, Item>) {
    this.#dialect = dialect;
    this.#table = table;
  }

  *read(query: Query): Steps<ListPage<Item>> {
    const filters = this.#table.conditions(query);
    const few = filters.length === 0 ? undefined : yield* this.#findFew(filters);
    const total = few?.total ?? (yield* this.#count(filters));

    // A page towards the start is read in the opposite order and reversed.
    const ascending = (query.sortOrder === 'asc') !== (query.backwards ?? false);
    const matching: Matching = few
      ? { conditions: [oneOf(this.#dialect, this.#table.row, few.rows)], areFew: true }
      : { conditions: filters.map(inOrder), areFew: false };
    const rows = yield* this.#rows(query, matching, ascending);
    const items = rows.slice(0, query.size).map((row) => this.#table.toItem(row));
    if (query.backwards) items.reverse();
    const beyond = rows.length > query.size;
    const behind = yield* this.#hasMatchBehind(query, matching, ascending);
    return query.backwards
      ? { items, total, before: beyond, after: behind }
      : { items, total, before: behind, after: beyond };
  }

  /** Finds the matches; undefined if there are more than {@link maxFewMatches}. */
  *#findFew(filters: readonly Condition[]): Steps<FewMatches | undefined> {
    const { row, from } = this.#table;
    const matches = `SELECT ${row} AS found FROM ${from}${whereClause(filters)} LIMIT ?`;
    const few = yield* first<FewMatches>(
      `SELECT count(*) AS total, ${this.#dialect.arrayOf('m.found')} AS "rows" FROM (${matches}) m`,
      ...valuesOf(filters),
      maxFewMatches + 1,
    );
    return few!.total > maxFewMatches ? undefined : few;
  }

  *#count(filters: readonly Condition[]): Steps<number> {
    const { from, countAll } = this.#table;
    const count = `SELECT count(*) AS total FROM ${from}${whereClause(filters)}`;
    const sql = filters.length === 0 ? (countAll ?? count) : count;
    return (yield* first<{ readonly total: number }>(sql, ...valuesOf(filters)))!.total;
  }

  /** Reads the rows of the page, and one row more, if there is one, to show that the list goes on. */
  *#rows(query: Query, matching: Matching, ascending: boolean): Steps<readonly Row[]> {
    const { select, id } = this.#table;
    const conditions = this.#beyond(query, matching, ascending);
    const direction = ascending ? 'ASC' : 'DESC';
    const order = `${this.#orderOf(query).column} ${direction}, ${id} ${direction}`;
    return yield* all<Row>(
      `${select}${whereClause(conditions)} ORDER BY ${order} LIMIT ?`,
      ...valuesOf(conditions),
      query.size + 1,
    );
  }

  /** True if a match lies on the other side of `from`, away from the page. */
  *#hasMatchBehind(query: Query, matching: Matching, ascending: boolean): Steps<boolean> {
    if (query.from === undefined) return false;
    const { from, id } = this.#table;
    const conditions = this.#beyond({ ...query, inclusive: !query.inclusive }, matching, !ascending);
    const sql = `SELECT ${id} FROM ${from}${whereClause(conditions)} LIMIT 1`;
    return (yield* first(sql, ...valuesOf(conditions))) !== undefined;
  }

  /** The conditions of matches beyond `from`, in the direction of reading. */
  #beyond(query: Query, { conditions, areFew }: Matching, ascending: boolean): readonly Condition[] {
    const { from, inclusive } = query;
    if (from === undefined) return conditions;
    const { column, nullValue } = this.#orderOf(query);
    const operator = (ascending ? '>' : '<') + (inclusive ? '=' : '');
    const sql = `(${column}, ${this.#table.id}) ${operator} (?, ?)`;
    const values = [from.value ?? nullValue ?? null, from.id];
    // Without IS TRUE, PostgreSQL might expect next to no rows beyond `from`, and scan all of them instead of the few matches.
    return [...conditions, { sql: areFew ? `(${sql}) IS TRUE` : sql, values }];
  }

  #orderOf(query: Query): OrderColumn {
    return this.#table.order[query.sortBy as Query['sortBy']];
  }
}

function oneOf({ elementsOf }: Dialect, column: string, rows: string): Condition {
  return { sql: `${column} IN (SELECT value FROM ${elementsOf('?')})`, values: [rows] };
}

function inOrder({ sql, values, inOrder = sql }: Condition): Condition {
  return { sql: inOrder, values };
}

function whereClause(conditions: readonly Condition[]): string {
  return conditions.length === 0 ? '' : ` WHERE ${conditions.map(({ sql }) => sql).join(' AND ')}`;
}

function valuesOf(conditions: readonly Condition[]): Value[] {
  return conditions.flatMap(({ values }) => values);
}

/** The SQL operators of comparisons. */
export const comparisonOperators = {
  gt: '>',
  gte: '>=',
  lt: '<',
  lte: '<=',
} as const satisfies Record<Comparison, string>;

/** Translation of filters on one field to SQL. */
export interface FilterColumn {
  readonly column: string;
  /** Column that orders lists by this field, set if the field may be null; comparisons and `isnull` use it, not `column`. */
  readonly order?: Required<OrderColumn>;
  /** The column that `eq` compares; default: `column`. */
  readonly equals?: string;
  /** Builds the condition of `contains` for one value; all values of a list must match. Default: the column contains the text. */
  readonly contains?: (value: string) => Condition;
}

/** Translates filters to conditions, with the column of each field. */
export function fieldConditions<Field extends string>(
  dialect: Dialect,
  columns: Readonly<Record<Field, FilterColumn>>,
  filters: readonly FieldFilter<Field>[],
): readonly Condition[] {
  return filters.flatMap((filter) => conditionsOf(dialect, columns[filter.field], filter));
}

function conditionsOf(
  dialect: Dialect,
  { column, order, equals = column, contains = (value) => dialect.contains(column, value) }: FilterColumn,
  { operator, value }: FieldFilter,
): readonly Condition[] {
  switch (operator) {
    case 'isnull':
      return order
        ? [nullCondition(order, value === true)]
        : [{ sql: `${column} IS ${value === true ? 'NULL' : 'NOT NULL'}`, values: [] }];
    case 'eq':
      return [{ sql: `${equals} = ?`, values: [asValue(value)] }];
    case 'contains':
      return [value].flat().map((part) => contains(String(part)));
    default:
      return [
        { sql: `${order?.column ?? column} ${comparisonOperators[operator]} ?`, values: [asValue(value)] },
      ];
  }
}

/** Condition that a JSON array contains a text without quotes; between two quotes, it can only match a whole element. */
export function containsElement(dialect: Dialect, column: string, element: string): Condition {
  return { sql: `${dialect.position}(${column}, ?) > 0`, values: [JSON.stringify(element)] };
}

/**
 * Condition that a field is null, or that it is not. It compares the column that orders lists, so that an index in list order
 * begins at the first match. Null is one end of that order, so the comparison is `<=` or `>=`; with `=`, PostgreSQL would order
 * the matches by id alone, and read all rows in that order.
 */
function nullCondition({ column, nullValue }: Required<OrderColumn>, isNull: boolean): Condition {
  const [nulls, others] = nullValue < 0 ? ['<=', '>'] : ['>=', '<'];
  return { sql: `${column} ${isNull ? nulls : others} ?`, values: [nullValue] };
}

function asValue(value: FieldFilter['value']): Value {
  if (typeof value === 'boolean') return value ? 1 : 0;
  return typeof value === 'object' ? JSON.stringify(value) : value;
}
