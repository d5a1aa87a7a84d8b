import { z } from 'zod';
import { presentApiKey } from '../../administration/api-key-fields.ts';
import { timestamp } from '../../administration/timestamp.ts';
import { Refusal } from '../../errors.ts';
import { entityTagOf } from '../../http/if-match.ts';
import { booleanText } from '../../input/pydantic-types.ts';
import { readQuery } from '../../input/url-encoded.ts';
import type { ApiKeyQuery, ApiKeySortField, ListedApiKey } from '../../stores/api-key.ts';
import type { ListPosition } from '../../stores/list-query.ts';
import type { EndpointDefinition } from '../endpoint.ts';
import { defineFilters, instantOperators, type ListSpec, listQuerySchema } from '../lists/list-spec.ts';
import { createListRequests, pageFields } from '../lists/page.ts';

const statuses = ['active', 'expired', 'suspended'] as const;

/** Schema of the query for reading a key. */
export const hydrateQuery = z.object({ hydrate: hydrate() });

/** Schema of the query for minting a key. */
export const mintQuery = z.strictObject({ hydrate: hydrate() });

/** Schema of the parameter `hydrate` of calls that return keys. */
function hydrate() {
  return booleanText()
    .prefault(true)
    .describe('Shows `created_by` and `scope_sets` as objects instead of bare ids.');
}

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

const apiKeyRead = z.object(readFields).meta({ id: 'ApiKeyRead' });
export const apiKeyInDb = z.object(readFields).meta({ id: 'ApiKeyInDb' });
export const apiKeyReadCreate = z
  .object({ ...readFields, key: z.string().describe('The key itself, shown this once.') })
  .meta({ id: 'ApiKeyReadCreate' });

const apiKeyPage = z
  .object(pageFields(apiKeyInDb, 'Keys that pass the filters.'))
  .meta({ id: 'ApiKeyInDbCursorPage' });

/** `GET /api/admin/api-keys/`: one page of the keys, with the cursors of its neighbours. */
export const apiKeysList: EndpointDefinition = {
  id: 'ApiKeys-List',
  method: 'GET',
  path: '/api/admin/api-keys/',
  guard: { scopes: ['apikeys:read'] },
  summary: 'Lists keys',
  description: 'One page; filters all hold together. Unknown parameters are refused.',
  query: () => listQuerySchema(apiKeyListSpec([])),
  success: { status: 200, description: 'A page of keys.', schema: () => apiKeyPage },
  refusals: ['invalid_cursor'],

  create({ records, cursors, catalogue, now }) {
    const readRequest = createListRequests(apiKeyListSpec([...catalogue].sort()), cursors);
    return async ({ exchange }) => {
      const { parameters, query, body } = readRequest(exchange.query);
      const instant = now();
      const page = await records.listApiKeys({ ...query, now: instant } as ApiKeyQuery);
      const shown = { hydrate: parameters.hydrate as boolean, now: instant, catalogue };
      return {
        status: 200,
        body: body(page, {
          positionOf: (item) => apiKeyPosition(item, query.sortBy),
          present: (item) => presentApiKey(item, shown),
        }),
      };
    };
  },
};

/** `GET /api/admin/api-keys/filters`: the fields by which the list is filtered and sorted. */
export const apiKeysFilters = defineFilters('ApiKeys-Filters', apiKeysList, ({ catalogue }) =>
  apiKeyListSpec([...catalogue].sort()),
);

/** `GET /api/admin/api-keys/{id}`: one key, without its secret. */
export const apiKeysRead: EndpointDefinition = {
  id: 'ApiKeys-Read',
  method: 'GET',
  path: '/api/admin/api-keys/{id}',
  guard: { scopes: ['apikeys:read'] },
  summary: 'Shows a key',
  description:
    'Keys of the whole tenant, expired and suspended ones included. Its `ETag` is for `If-Match`; uses leave it as it is.',
  query: () => hydrateQuery,
  success: {
    status: 200,
    description: 'The key, without its secret.',
    schema: () => apiKeyRead,
    headers: ['ETag'],
  },
  refusals: ['not_found'],

  create({ records, catalogue, now }) {
    return async ({ exchange, id }) => {
      const { hydrate } = readQuery(exchange.query, hydrateQuery);
      const found = await records.findApiKey(id);
      if (found === undefined) throw new Refusal('not_found');
      const body = presentApiKey(found, { hydrate, now: now(), catalogue });
      return { status: 200, headers: ['ETag', entityTagOf(found)], body };
    };
  },
};

/** Fields by which keys can be filtered and sorted. `catalogue` is sorted; empty: any scope (for the OpenAPI document). */
function apiKeyListSpec(catalogue: readonly string[]): ListSpec<ApiKeySortField> {
  return {
    name: 'api-keys',
    fields: [
      {
        name: 'label',
        type: 'string',
        operators: ['contains', 'eq'],
        notes: { contains: 'ASCII case-insensitive.' },
      },
      { name: 'created', type: 'datetime', operators: instantOperators },
      { name: 'expires', type: 'datetime', operators: [...instantOperators, 'isnull'] },
      { name: 'last_used', type: 'datetime', operators: [...instantOperators, 'isnull'] },
      {
        name: 'scopes',
        type: 'array',
        operators: ['contains'],
        values: catalogue,
        notes: { contains: 'Scopes of the catalogue. May come more than once; a key that has all of them.' },
      },
      { name: 'created_by', type: 'string', operators: ['eq'] },
      {
        name: 'parent',
        type: 'string',
        operators: ['eq'],
        notes: { eq: 'Id of the key it was minted with.' },
      },
      { name: 'status', type: 'string', operators: ['eq'], values: statuses },
    ],
    sortFields: ['created', 'label', 'expires', 'last_used'],
    sortNote: '`label` by code points; no `expires` is the far future, no `last_used` the far past.',
    presentation: { hydrate: hydrate() },
  };
}

function apiKeyPosition({ key }: ListedApiKey, sortBy: ApiKeySortField): ListPosition {
  const { id, label, created, expires, lastUsed } = key;
  return { value: { created, label, expires, last_used: lastUsed }[sortBy], id };
}
