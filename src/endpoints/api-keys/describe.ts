import { z } from 'zod';
import type { Endpoint } from '../endpoint.ts';
import { describeList } from '../lists/list-spec.ts';
import { apiKeyListSpec } from './api-key-list-spec.ts';

/** `GET /api/admin/api-keys/filters`: what the list can be filtered and sorted by. */
export function createApiKeyFilters(catalogue: ReadonlySet<string>): Endpoint {
  const body = describeList(apiKeyListSpec([...catalogue].sort()));
  return {
    method: 'GET',
    path: '/api/admin/api-keys/filters',
    guard: { scopes: ['apikeys:read'] },
    handle: async () => ({ status: 200, body }),
  };
}

/** Names of scopes, sorted. */
export const scopeNames = z.array(z.string());

/** `GET /api/admin/api-keys/scopes`: the catalogue; all of it can be granted to keys. */
export function createApiKeyScopes(catalogue: ReadonlySet<string>): Endpoint {
  const body = [...catalogue].sort();
  return {
    method: 'GET',
    path: '/api/admin/api-keys/scopes',
    guard: { scopes: ['apikeys:write'] },
    handle: async () => ({ status: 200, body }),
  };
}
