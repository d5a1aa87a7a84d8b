import { apiKeyWriteCreate } from '../administration/api-key-fields.ts';
import { apiKeyListSpec } from '../endpoints/api-keys/api-key-list-spec.ts';
import {
  apiKeyPage,
  apiKeyRead,
  apiKeyReadCreate,
  deleteQuery,
  hydrateQuery,
} from '../endpoints/api-keys/api-key-schemas.ts';
import { scopeNames } from '../endpoints/api-keys/describe.ts';
import type { Operation } from '../endpoints/endpoint.ts';
import { listQuerySchema } from '../endpoints/lists/list-spec.ts';
import { filtersOperation } from './list-filters.ts';

const list = '/api/admin/api-keys/';
const read = { scopes: ['apikeys:read'] } as const;
const write = { scopes: ['apikeys:write'] } as const;

/** The operations on API keys. */
export const apiKeyOperations: readonly Operation[] = [
  {
    id: 'ApiKeys-List',
    summary: 'Lists keys',
    description: 'One page; filters all hold together. Unknown parameters are refused.',
    method: 'GET',
    path: list,
    guard: read,
    query: () => listQuerySchema(apiKeyListSpec([])),
    success: { status: 200, description: 'A page of keys.', schema: () => apiKeyPage },
    refusals: ['invalid_cursor'],
  },
  {
    id: 'ApiKeys-Create',
    summary: 'Mints a key',
    description:
      'Nobody mints beyond what their own credential holds, and a key minted with a key ends no later than it.',
    method: 'POST',
    path: list,
    guard: write,
    query: () => hydrateQuery,
    body: {
      schema: () => apiKeyWriteCreate({ catalogue: [], maxLifetimeMs: null, now: Date.now }),
    },
    success: {
      status: 201,
      description: 'The key, shown this once.',
      schema: () => apiKeyReadCreate,
      headers: ['ETag'],
    },
    refusals: ['expiry_exceeds_caller'],
  },
  filtersOperation('ApiKeys-Filters', list, read),
  {
    id: 'ApiKeys-Scopes',
    summary: 'Lists the scopes that keys can be granted',
    description: 'The built-in scopes and those of the configuration. The caller may hold fewer.',
    method: 'GET',
    path: `${list}scopes`,
    guard: write,
    success: { status: 200, description: 'The whole catalogue, sorted.', schema: () => scopeNames },
    refusals: [],
  },
  {
    id: 'ApiKeys-Read',
    summary: 'Shows a key',
    description:
      'Keys of the whole tenant, expired and suspended ones included. Its `ETag` is for `If-Match`; uses leave it as it is.',
    method: 'GET',
    path: `${list}{id}`,
    guard: read,
    query: () => hydrateQuery,
    success: {
      status: 200,
      description: 'The key, without its secret.',
      schema: () => apiKeyRead,
      headers: ['ETag'],
    },
    refusals: ['not_found'],
  },
  {
    id: 'ApiKeys-Delete',
    summary: 'Deletes a key',
    description: 'On every replica; keys minted with it live on unless `children` says otherwise.',
    method: 'DELETE',
    path: `${list}{id}`,
    guard: write,
    takesIfMatch: true,
    query: () => deleteQuery,
    success: { status: 204, description: 'Gone: it stops working at once, and what it has open ends.' },
    refusals: ['not_found', 'precondition_failed'],
  },
];
