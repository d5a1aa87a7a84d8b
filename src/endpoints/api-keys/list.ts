import { presentApiKey } from '../../administration/api-key-fields.ts';
import type { EndpointDefinition } from '../endpoint.ts';
import { defineFilters } from '../lists/filters.ts';
import { createListRequests } from '../lists/list-request.ts';
import { listQuerySchema } from '../lists/list-spec.ts';
import { apiKeyFilters, apiKeyListSpec, apiKeyPosition } from './api-key-list-spec.ts';
import { apiKeyPage } from './api-key-schemas.ts';

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
      const page = await records.listApiKeys({
        ...query,
        filters: apiKeyFilters(query.filters),
        now: instant,
      });
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

/** `GET /api/admin/api-keys/filters`: what the list can be filtered and sorted by. */
export const apiKeysFilters = defineFilters('ApiKeys-Filters', apiKeysList, ({ catalogue }) =>
  apiKeyListSpec([...catalogue].sort()),
);
