import { z } from 'zod';
import { rfc3339 } from '../../input/pydantic-datetime.ts';
import { booleanText, integerText, oneOf, repeatable } from '../../input/pydantic-types.ts';
import type { FieldFilter, FilterOperator } from '../../stores/list-query.ts';
import type { EndpointDefinition, Guard } from '../endpoint.ts';
import type { EndpointParts } from '../endpoint-parts.ts';

/** Field that a list can be filtered by: each operator is a parameter `<name>__<operator>`. */
export interface ListField {
  readonly name: string;
  readonly type: 'string' | 'datetime' | 'boolean' | 'array';
  readonly operators: readonly FilterOperator[];
  /** Values that the field can hold; absent: any of its type; empty: not known (for the OpenAPI document). */
  readonly values?: readonly string[];
  /** Descriptions of the parameters, by operator. */
  readonly notes?: Readonly<Partial<Record<FilterOperator, string>>>;
  /** Converts the value of a filter to the spelling in the store; default: unchanged. */
  readonly spelled?: (text: string) => string;
}

/** The operators of a field that holds an instant. */
export const instantOperators = ['gte', 'gt', 'lte', 'lt'] as const satisfies readonly FilterOperator[];

/** Fields that a list can be sorted and filtered by. */
export interface ListSpec<SortField extends string> {
  /** Name of the list; cursors of other lists are refused. */
  readonly name: string;
  readonly fields: readonly ListField[];
  /** Fields that can be sorted by; the first is the default. */
  readonly sortFields: readonly [SortField, ...SortField[]];
  /** Description of `sort_by`. */
  readonly sortNote?: string;
  /** Parameters that change how items are shown, but not which ones or in what order, so that cursors are not bound to them. */
  readonly presentation?: Readonly<Record<string, z.ZodType>>;
}

/** The parameters that every list has. */
export interface ListParameters<SortField extends string> extends Readonly<Record<string, unknown>> {
  readonly size: number;
  readonly cursor?: string;
  readonly sort_by: SortField;
  readonly sort_order: 'asc' | 'desc';
}

const defaultPageSize = 50;
const maxPageSize = 100;
const sortOrders = ['asc', 'desc'] as const;
const defaultSortOrder = 'desc';

/** Schema of the query of a list; unknown parameters are refused. */
export function listQuerySchema<SortField extends string>(spec: ListSpec<SortField>) {
  const { fields, sortFields, sortNote, presentation } = spec;
  const sortBy = z.enum(sortFields).default(sortFields[0] as never);
  return z.strictObject({
    size: integerText({ ge: 1, le: maxPageSize }).prefault(defaultPageSize).describe('Items on a page.'),
    cursor: z.string().optional().describe('From another page of the same sort and filters.'),
    sort_by: sortNote === undefined ? sortBy : sortBy.describe(sortNote),
    sort_order: z.enum(sortOrders).default(defaultSortOrder).describe('Ties by id.'),
    ...presentation,
    ...filterParameters(fields),
  });
}

const listDescription = z
  .object({
    filters: z.array(
      z.object({
        field: z.string(),
        type: z.enum(['string', 'datetime', 'boolean', 'array']),
        operators: z.array(z.string()).describe('A filter is the parameter `<field>__<operator>`.'),
        values: z
          .array(z.string())
          .optional()
          .describe('What the field can hold; absent: anything of its type.'),
      }),
    ),
    sort: z.object({
      fields: z.array(z.string()),
      orders: z.array(z.enum(sortOrders)),
      default: z.object({ sort_by: z.string(), sort_order: z.enum(sortOrders) }),
    }),
    size: z.object({ default: z.int().positive(), max: z.int().positive() }),
  })
  .meta({ id: 'ListDescription' });

function describeList({ fields, sortFields }: ListSpec<string>): z.input<typeof listDescription> {
  return {
    filters: fields.map(({ name, type, operators, values }) => ({
      field: name,
      type,
      operators: [...operators],
      ...(values !== undefined && { values: [...values] }),
    })),
    sort: {
      fields: [...sortFields],
      orders: [...sortOrders],
      default: { sort_by: sortFields[0], sort_order: defaultSortOrder },
    },
    size: { default: defaultPageSize, max: maxPageSize },
  };
}

/** Defines the endpoint `filters` below a list, which describes the list's filters and sort fields. */
export function defineFilters<G extends Guard>(
  id: EndpointDefinition['id'],
  list: { readonly path: string; readonly guard: G },
  specOf: (parts: EndpointParts) => ListSpec<string>,
): EndpointDefinition<G> {
  return {
    id,
    method: 'GET',
    path: `${list.path}filters`,
    guard: list.guard,
    summary: 'Describes how the list can be filtered and sorted',
    description: 'For a front end that builds its filters from it: fields, operators and values.',
    success: {
      status: 200,
      description: 'Filters, sort fields and page sizes.',
      schema: () => listDescription,
    },
    refusals: [],

    create(parts) {
      const body = describeList(specOf(parts));
      return async () => ({ status: 200, body });
    },
  };
}

function filterParameters(fields: readonly ListField[]): Record<string, z.ZodType> {
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
  const text = oneOf(values);
  return type === 'array' ? repeatable(z.array(text)) : text;
}
