import { presentApiKey } from '../../administration/api-key-fields.ts';
import type { ApiKeyQuery, ApiKeySortField, ListedApiKey } from '../../stores/api-key.ts';
import type { ListPosition } from '../../stores/list-query.ts';
import type { EndpointDefinition } from '../endpoint.ts';
import { defineFilters } from '../lists/filters.ts';
import { instantOperators } from '../lists/list-fields.ts';
import { createListRequests } from '../lists/list-request.ts';
import { type ListSpec, listQuerySchema } from '../lists/list-spec.ts';
import { apiKeyPage, hydrate, statuses } from './api-key-schemas.ts';

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

/** Fields that keys are listed by; `catalogue` is sorted, and empty for any scope (the OpenAPI document). */
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
      { name: 'status', type: 'string', operators: ['eq'], values: statuses },
    ],
    sortFields: ['created', 'label', 'expires', 'last_used'],
    sortNote: '`label` by code points; no `expires` is the far future, no `last_used` the far past.',
    presentation: { hydrate: hydrate() },
  };
}

/** The position of a key in the order of `sortBy`. */
function apiKeyPosition({ key }: ListedApiKey, sortBy: ApiKeySortField): ListPosition {
  const { id, label, created, expires, lastUsed } = key;
  return { value: { created, label, expires, last_used: lastUsed }[sortBy], id };
}
