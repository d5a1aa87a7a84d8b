import type { Comparison, FieldFilter } from '../list-query.ts';
import type { Condition, Dialect } from './dialect.ts';
import type { Value } from './steps.ts';

/** The operators of comparisons. */
export const comparisonOperators = {
  gt: '>',
  gte: '>=',
  lt: '<',
  lte: '<=',
} as const satisfies Record<Comparison, string>;

/** How the filters of one field translate to its table. */
export interface FilterColumn {
  readonly column: string;
  /** The column to compare instead, which is never null; default `column`. */
  readonly compared?: string;
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
  { column, compared = column, isArray, equals = `${column} = ?` }: FilterColumn,
  { operator, value }: FieldFilter,
): readonly Condition[] {
  switch (operator) {
    case 'isnull':
      return [{ sql: `${column} IS ${nullness(value === true)}`, values: [] }];
    case 'eq': {
      const placeholders = equals.split('?').length - 1;
      return [{ sql: equals, values: Array<Value>(placeholders).fill(asValue(value)) }];
    }
    case 'contains':
      return isArray
        ? [value].flat().map((element) => containsElement(dialect, column, String(element)))
        : [dialect.contains(column, String(value))];
    default:
      return [{ sql: `${compared} ${comparisonOperators[operator]} ?`, values: [asValue(value)] }];
  }
}

/** That a JSON array of texts without quotes contains one: text between two quotes is a whole element. */
export function containsElement(dialect: Dialect, column: string, element: string): Condition {
  return { sql: `${dialect.position}(${column}, ?) > 0`, values: [JSON.stringify(element)] };
}

/** `NULL` or `NOT NULL`. */
export function nullness(isNull: boolean): 'NULL' | 'NOT NULL' {
  return isNull ? 'NULL' : 'NOT NULL';
}

function asValue(value: FieldFilter['value']): Value {
  if (typeof value === 'boolean') return value ? 1 : 0;
  return typeof value === 'object' ? JSON.stringify(value) : value;
}
