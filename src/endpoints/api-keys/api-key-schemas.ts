import { z } from 'zod';
import { rfc3339 } from '../../http/pydantic-datetime.ts';
import {
  booleanText,
  codePointString,
  distinctList,
  integerText,
  repeatable,
  togetherAtLeastOne,
  withoutControlCharacters,
} from '../../http/pydantic-types.ts';

/** Fields by which the list sorts; the first is the default. */
export const sortFields = ['created', 'label', 'expires', 'last_used'] as const;
export const statuses = ['active', 'expired', 'suspended'] as const;

export const defaultPageSize = 50;
export const maxPageSize = 100;

/** What a new key asks for. `catalogue`: what may be granted, empty for any (the OpenAPI document); `now` in epoch ms. */
export function apiKeyWriteCreate(catalogue: readonly string[], now: () => number) {
  const [first, ...others] = catalogue;
  const scope = first === undefined ? z.string() : z.enum([first, ...others]);
  const fields = z.strictObject({
    label: codePointString({ min: 1, max: 128, trim: true, pattern: withoutControlCharacters }),
    scopes: distinctList(scope, { max: 64 }),
    scope_sets: distinctList(z.string(), { max: 16 }).default([]),
    expires: rfc3339({ future: now }).nullish().describe('With an offset, in the future; null: never.'),
  });
  return togetherAtLeastOne(fields, ['scopes', 'scope_sets']).meta({ id: 'ApiKeyWriteCreate' });
}

/** `?hydrate` of calls that answer with keys. */
export const hydrateQuery = z.object({ hydrate: booleanText().default(true) });

/** `?children` of a deletion. */
export const deleteQuery = z.object({ children: booleanText().default(false) });

function instants<N extends string>(name: N) {
  return Object.fromEntries(
    ['gte', 'gt', 'lte', 'lt'].map((operator) => [`${name}__${operator}`, rfc3339().optional()]),
  ) as Record<`${N}__${'gte' | 'gt' | 'lte' | 'lt'}`, z.ZodOptional<ReturnType<typeof rfc3339>>>;
}

/** The query of the list; what it doesn't name is refused. */
export function listQuery(catalogue: readonly string[]) {
  const [first, ...others] = catalogue;
  const scope = first === undefined ? z.string() : z.enum([first, ...others]);
  return z.strictObject({
    size: integerText({ ge: 1, le: maxPageSize }).default(defaultPageSize),
    cursor: z.string().optional(),
    sort_by: z.enum(sortFields).default('created'),
    sort_order: z.enum(['asc', 'desc']).default('desc'),
    hydrate: booleanText().default(true),
    label__contains: z.string().optional(),
    label__eq: z.string().optional(),
    ...instants('created'),
    ...instants('expires'),
    expires__isnull: booleanText().optional(),
    ...instants('last_used'),
    last_used__isnull: booleanText().optional(),
    scopes__contains: repeatable(z.array(scope)).optional(),
    created_by__eq: z.string().optional(),
    status__eq: z.enum(statuses).optional(),
  });
}

/** What a checked list query says. */
export type ListQuery = z.output<ReturnType<typeof listQuery>>;

const timestamp = z.iso.datetime({ precision: 3 });

const readFields = {
  id: z.string(),
  label: z.string(),
  hint: z.string().describe('The prefix and four characters of the key.'),
  scopes: z.array(z.string()),
  scope_sets: z
    .array(z.union([z.string(), z.object({ id: z.string(), name: z.string(), scopes: z.array(z.string()) })]))
    .describe('Objects with `hydrate=true`, bare ids otherwise.'),
  created: timestamp,
  created_by: z
    .union([z.string(), z.object({ id: z.string(), username: z.string().nullable() })])
    .describe('An object with `hydrate=true`, the bare id otherwise.'),
  parent: z.string().nullable().describe('Id of the key it was minted with.'),
  expires: timestamp.nullable(),
  last_used: timestamp.nullable().describe('To about a minute.'),
  status: z.enum(statuses),
} as const;

export const apiKeyRead = z.object(readFields).meta({ id: 'ApiKeyRead' });
export const apiKeyInDb = z.object(readFields).meta({ id: 'ApiKeyInDb' });
export const apiKeyReadCreate = z
  .object({ ...readFields, key: z.string().describe('The key itself, shown this once.') })
  .meta({ id: 'ApiKeyReadCreate' });

const pageCursor = z.string().nullable();

export const apiKeyPage = z
  .object({
    items: z.array(apiKeyInDb),
    total: z.int().describe('Keys that pass the filters.'),
    current_page: pageCursor,
    current_page_backwards: pageCursor,
    previous_page: pageCursor,
    next_page: pageCursor,
  })
  .meta({ id: 'ApiKeyInDbCursorPage' });
