import { z } from 'zod';
import type { EndpointDefinition } from '../endpoint.ts';

/** Names of scopes, sorted. */
export const scopeNames = z.array(z.string());

/** `GET /api/admin/api-keys/scopes`: the catalogue; all of it can be granted to keys. */
export const apiKeysScopes: EndpointDefinition = {
  id: 'ApiKeys-Scopes',
  method: 'GET',
  path: '/api/admin/api-keys/scopes',
  guard: { scopes: ['apikeys:write'] },
  summary: 'Lists the scopes that keys can be granted',
  description: 'The built-in scopes and those of the configuration. The caller may hold fewer.',
  success: { status: 200, description: 'The whole catalogue, sorted.', schema: () => scopeNames },
  refusals: [],

  create({ catalogue }) {
    const body = [...catalogue].sort();
    return async () => ({ status: 200, body });
  },
};
