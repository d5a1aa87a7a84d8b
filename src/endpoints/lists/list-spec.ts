import { z } from 'zod';
import { integerText } from '../../input/pydantic-types.ts';
import { filterParameters, type ListField } from './list-fields.ts';

/** Fields that a list can be sorted and filtered by. */
export interface ListSpec<SortField extends string> {
  /** Names the list in its cursors. */
  readonly name: string;
  readonly fields: readonly ListField[];
  /** The first is the default. */
  readonly sortFields: readonly [SortField, ...SortField[]];
  /** Description of `sort_by`. */
  readonly sortNote?: string;
  /** Parameters that change how items are shown, not which ones: cursors are not bound to them. */
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

/** The query of a list; parameters it doesn't name are refused. */
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

/** Description of a list's filters and sort fields, as `/filters` returns it. */
export const listDescription = z
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

/** The body of a list's `/filters`. */
export function describeList({ fields, sortFields }: ListSpec<string>): z.input<typeof listDescription> {
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
