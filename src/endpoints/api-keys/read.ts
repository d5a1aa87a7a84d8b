import { z } from 'zod';
import { presentApiKey } from '../../administration/api-key-fields.ts';
import { Refusal } from '../../errors.ts';
import { entityTagOf } from '../../http/if-match.ts';
import { readQuery } from '../../input/query.ts';
import type { EndpointDefinition } from '../endpoint.ts';
import { apiKeyRead, hydrateQuery } from './api-key-schemas.ts';

/** `GET /api/admin/api-keys/{id}`. */
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

/** `GET /api/admin/api-keys/scopes`: the catalogue; all of it can be granted to keys. */
export const apiKeysScopes: EndpointDefinition = {
  id: 'ApiKeys-Scopes',
  method: 'GET',
  path: '/api/admin/api-keys/scopes',
  guard: { scopes: ['apikeys:write'] },
  summary: 'Lists the scopes that keys can be granted',
  description: 'The built-in scopes and those of the configuration. The caller may hold fewer.',
  success: { status: 200, description: 'The whole catalogue, sorted.', schema: () => z.array(z.string()) },
  refusals: [],

  create({ catalogue }) {
    const body = [...catalogue].sort();
    return async () => ({ status: 200, body });
  },
};
