import type { ListPage, ListQuery } from '../list-query.ts';
import type { Condition, Dialect } from './dialect.ts';
import { all, first, type Steps, type Value } from './steps.ts';

/** How a list is read from its table. */
export interface ListTable<Query extends ListQuery<string, unknown>, Row, Item> {
  /** The table and its alias, for FROM. */
  readonly from: string;
  /** Selects items with all that they show; a WHERE clause may follow. */
  readonly select: string;
  /** The column that breaks ties. */
  readonly id: string;
  /** The column that finds a row at the least cost; texts, or any value where columns take any. */
  readonly row: string;
  /** By sort field. */
  readonly order: Readonly<Record<Query['sortBy'], OrderColumn>>;
  conditions(query: Query): readonly Condition[];
  toItem(row: Row): Item;
}

/** A column that orders a list; it is never null. */
export interface OrderColumn {
  readonly column: string;
  /** What the column holds in place of null; absent: the field is never null. */
  readonly nullValue?: number;
}

/** Where some items are, as a JSON array, and how many they are. */
interface Few {
  readonly total: number;
  readonly rows: string;
}

/** So many matches are sorted at once; where there are more, the index of the order soon meets a page of them. */
const fewMatches = 1_000;

/** Builds the steps that read one page of a list, all of one moment. */
export function createList<Query extends ListQuery<string, unknown>, Row, Item>(
  dialect: Dialect,
  table: ListTable<Query, Row, Item>,
): (query: Query) => Steps<ListPage<Item>> {
  const { from: source, select, id } = table;

  /** Where all matches are, if they are few. */
  function* findFew(filters: readonly Condition[]): Steps<Few | undefined> {
    const matches = `SELECT ${table.row} AS place FROM ${source}${whereClause(filters)} LIMIT ?`;
    const few = yield* first<Few>(
      `SELECT count(*) AS total, ${dialect.arrayOf('m.place')} AS "rows" FROM (${matches}) m`,
      ...valuesOf(filters),
      fewMatches + 1,
    );
    return few!.total > fewMatches ? undefined : few;
  }

  function* count(filters: readonly Condition[]): Steps<number> {
    const sql = `SELECT count(*) AS total FROM ${source}${whereClause(filters)}`;
    return (yield* first<{ readonly total: number }>(sql, ...valuesOf(filters)))!.total;
  }

  /** Whether a match lies on the other side of `from` than what is read. */
  function* isAnythingBehind(
    query: Query,
    matching: readonly Condition[],
    ascending: boolean,
  ): Steps<boolean> {
    if (query.from === undefined) return false;
    const otherSide = positionCondition({ ...query, inclusive: !query.inclusive }, !ascending);
    const conditions = [...matching, ...otherSide];
    const sql = `SELECT ${id} FROM ${source}${whereClause(conditions)} LIMIT 1`;
    return (yield* first(sql, ...valuesOf(conditions))) !== undefined;
  }

  function orderOf(query: Query): OrderColumn {
    return table.order[query.sortBy as Query['sortBy']];
  }

  function positionCondition(query: Query, ascending: boolean): readonly Condition[] {
    const { from, inclusive } = query;
    if (from === undefined) return [];
    const { column, nullValue } = orderOf(query);
    const operator = (ascending ? '>' : '<') + (inclusive ? '=' : '');
    return [
      { sql: `(${column}, ${id}) ${operator} (?, ?)`, values: [from.value ?? nullValue ?? null, from.id] },
    ];
  }

  return function* list(query) {
    const filters = table.conditions(query);
    const few = filters.length === 0 ? undefined : yield* findFew(filters);
    const total = few?.total ?? (yield* count(filters));

    // Reading towards the start is reading the opposite order and turning the page round.
    const ascending = (query.sortOrder === 'asc') !== (query.backwards ?? false);
    const matching = few ? [oneOf(dialect, table.row, few.rows)] : filters;
    const conditions = [...matching, ...positionCondition(query, ascending)];
    const direction = ascending ? 'ASC' : 'DESC';
    const order = `${orderOf(query).column} ${direction}, ${id} ${direction}`;
    const rows = yield* all<Row>(
      `${select}${whereClause(conditions)} ORDER BY ${order} LIMIT ?`,
      ...valuesOf(conditions),
      query.size + 1,
    );
    const items = rows.slice(0, query.size).map((row) => table.toItem(row));
    if (query.backwards) items.reverse();
    const beyond = rows.length > query.size;
    const behind = yield* isAnythingBehind(query, matching, ascending);
    return query.backwards
      ? { items, total, before: beyond, after: behind }
      : { items, total, before: behind, after: beyond };
  };
}

function oneOf({ elementsOf }: Dialect, column: string, rows: string): Condition {
  return { sql: `${column} IN (SELECT value FROM ${elementsOf('?')})`, values: [rows] };
}

function whereClause(conditions: readonly Condition[]): string {
  return conditions.length === 0 ? '' : ` WHERE ${conditions.map(({ sql }) => sql).join(' AND ')}`;
}

function valuesOf(conditions: readonly Condition[]): Value[] {
  return conditions.flatMap(({ values }) => values);
}
