import { presentApiKey } from '../../administration/api-key-fields.ts';
import { Refusal } from '../../errors.ts';
import { entityTagOf } from '../../http/if-match.ts';
import { readQuery } from '../../input/query.ts';
import type { Records } from '../../stores/records.ts';
import type { Endpoint } from '../endpoint.ts';
import { hydrateQuery } from './api-key-schemas.ts';

/** `GET /api/admin/api-keys/{id}`. */
export function createApiKeyRead(options: {
  readonly records: Pick<Records, 'findApiKey'>;
  readonly catalogue: ReadonlySet<string>;
  readonly now: () => number;
}): Endpoint {
  const { records, catalogue, now } = options;
  return {
    method: 'GET',
    path: '/api/admin/api-keys/{id}',
    guard: { scopes: ['apikeys:read'] },
    async handle({ exchange, id }) {
      const { hydrate } = readQuery(exchange.query, hydrateQuery);
      const found = await records.findApiKey(id);
      if (found === undefined) throw new Refusal('not_found');
      const body = presentApiKey(found, { hydrate, now: now(), catalogue });
      return { status: 200, headers: ['ETag', entityTagOf(found)], body };
    },
  };
}
