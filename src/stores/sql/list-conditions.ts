import type { Comparison, FieldFilter } from '../list-query.ts';
import type { Condition, Dialect } from './dialect.ts';
import type { OrderColumn } from './list.ts';
import type { Value } from './steps.ts';

/** The operators of comparisons. */
export const comparisonOperators = {
  gt: '>',
  gte: '>=',
  lt: '<',
  lte: '<=',
} as const satisfies Record<Comparison, string>;

/** Translation of the filters of one field to its table. */
export interface FilterColumn {
  readonly column: string;
  /** The column by which lists are ordered, if the field may be null; it is compared instead. */
  readonly order?: Required<OrderColumn>;
  /** Set if the column is a sorted JSON array of texts without quotes: `contains` then matches whole elements. */
  readonly isArray?: true;
  /** Instead of `column = ?`; each `?` stands for the value. */
  readonly equals?: string;
}

/** The conditions of filters, by the column of each field. */
export function fieldConditions<Field extends string>(
  dialect: Dialect,
  columns: Readonly<Record<Field, FilterColumn>>,
  filters: readonly FieldFilter<Field>[],
): readonly Condition[] {
  return filters.flatMap((filter) => conditionsOf(dialect, columns[filter.field], filter));
}

function conditionsOf(
  dialect: Dialect,
  { column, order, isArray, equals = `${column} = ?` }: FilterColumn,
  { operator, value }: FieldFilter,
): readonly Condition[] {
  switch (operator) {
    case 'isnull':
      return order
        ? [nullCondition(order, value === true)]
        : [{ sql: `${column} IS ${value === true ? 'NULL' : 'NOT NULL'}`, values: [] }];
    case 'eq': {
      const placeholders = equals.split('?').length - 1;
      return [{ sql: equals, values: Array<Value>(placeholders).fill(asValue(value)) }];
    }
    case 'contains':
      return isArray
        ? [value].flat().map((element) => containsElement(dialect, column, String(element)))
        : [dialect.contains(column, String(value))];
    default:
      return [
        { sql: `${order?.column ?? column} ${comparisonOperators[operator]} ?`, values: [asValue(value)] },
      ];
  }
}

/** Matches a JSON array that contains a text without quotes: text between two quotes is a whole element. */
export function containsElement(dialect: Dialect, column: string, element: string): Condition {
  return { sql: `${dialect.position}(${column}, ?) > 0`, values: [JSON.stringify(element)] };
}

/**
 * Matches a field that is null, or one that is not: by the column that is ordered by, so that an index in list order begins where
 * the matches do. Null is one end of the order, and is compared as such: equal values PostgreSQL would order by id alone,
 * and read all rows in that order.
 */
export function nullCondition({ column, nullValue }: Required<OrderColumn>, isNull: boolean): Condition {
  const [nulls, others] = nullValue < 0 ? ['<=', '>'] : ['>=', '<'];
  return { sql: `${column} ${isNull ? nulls : others} ?`, values: [nullValue] };
}

function asValue(value: FieldFilter['value']): Value {
  if (typeof value === 'boolean') return value ? 1 : 0;
  return typeof value === 'object' ? JSON.stringify(value) : value;
}
