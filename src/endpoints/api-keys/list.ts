import { presentApiKey } from '../../administration/api-key-fields.ts';
import type { Cursors } from '../../credentials/cursor.ts';
import type { Records } from '../../stores/records.ts';
import type { Endpoint } from '../endpoint.ts';
import { createListRequests } from '../lists/list-request.ts';
import { apiKeyFilters, apiKeyListSpec, apiKeyPosition } from './api-key-list-spec.ts';

/** `GET /api/admin/api-keys/`: one page of the keys, with the cursors of its neighbours. */
export function createApiKeyList(options: {
  readonly records: Pick<Records, 'listApiKeys'>;
  readonly cursors: Cursors;
  readonly catalogue: ReadonlySet<string>;
  readonly now: () => number;
}): Endpoint {
  const { records, cursors, catalogue, now } = options;
  const readRequest = createListRequests(apiKeyListSpec([...catalogue].sort()), cursors);

  return {
    method: 'GET',
    path: '/api/admin/api-keys',
    guard: { scopes: ['apikeys:read'] },
    async handle({ exchange }) {
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
    },
  };
}
