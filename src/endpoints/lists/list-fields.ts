import { z } from 'zod';
import { rfc3339 } from '../../input/pydantic-datetime.ts';
import { booleanText, repeatable } from '../../input/pydantic-types.ts';
import type { FieldFilter, FilterOperator } from '../../stores/list-query.ts';

/** Field that a list can be filtered by: each operator is a parameter `<name>__<operator>`. */
export interface ListField {
  readonly name: string;
  readonly type: 'string' | 'datetime' | 'boolean' | 'array';
  readonly operators: readonly FilterOperator[];
  /** Values that the field can hold; absent: any of its type. Empty: not known yet (the OpenAPI document). */
  readonly values?: readonly string[];
  /** Descriptions of the parameters, by operator. */
  readonly notes?: Readonly<Partial<Record<FilterOperator, string>>>;
  /** Spells a value as the store has it; default: as it is. */
  readonly spelled?: (text: string) => string;
}

/** The operators of an instant, which is compared. */
export const instantOperators = ['gte', 'gt', 'lte', 'lt'] as const satisfies readonly FilterOperator[];

/** The query parameters of the fields, in their order. */
export function filterParameters(fields: readonly ListField[]): Record<string, z.ZodType> {
  return Object.fromEntries(
    parametersOf(fields).map(({ field, operator, name }) => {
      const schema = valueSchema(field, operator).optional();
      const note = field.notes?.[operator];
      return [name, note === undefined ? schema : schema.describe(note)];
    }),
  );
}

/** The filters of a validated query. */
export function filtersOf(
  fields: readonly ListField[],
  query: Readonly<Record<string, unknown>>,
): readonly FieldFilter[] {
  return parametersOf(fields).flatMap(({ field, operator, name }) => {
    const value = query[name] as FieldFilter['value'] | undefined;
    if (value === undefined) return [];
    const isSpelled = field.spelled !== undefined && typeof value === 'string';
    return [{ field: field.name, operator, value: isSpelled ? field.spelled(value) : value }];
  });
}

function parametersOf(fields: readonly ListField[]) {
  return fields.flatMap((field) =>
    field.operators.map((operator) => ({ field, operator, name: `${field.name}__${operator}` })),
  );
}

function valueSchema({ type, values = [] }: ListField, operator: FilterOperator): z.ZodType {
  if (operator === 'isnull' || type === 'boolean') return booleanText();
  if (type === 'datetime') return rfc3339();
  const [first, ...others] = values;
  const text = first === undefined ? z.string() : z.enum([first, ...others]);
  return type === 'array' ? repeatable(z.array(text)) : text;
}
