import type { Endpoint } from '../endpoint.ts';
import { defaultPageSize, maxPageSize, sortFields, statuses } from './api-key-schemas.ts';

const instantOperators = ['gte', 'gt', 'lte', 'lt'] as const;

/** `GET /api/admin/api-keys/filters`: what the list can be filtered and sorted by. */
export function createApiKeyFilters(catalogue: ReadonlySet<string>): Endpoint {
  const body = {
    filters: [
      { field: 'label', type: 'string', operators: ['contains', 'eq'] },
      { field: 'created', type: 'datetime', operators: instantOperators },
      { field: 'expires', type: 'datetime', operators: [...instantOperators, 'isnull'] },
      { field: 'last_used', type: 'datetime', operators: [...instantOperators, 'isnull'] },
      { field: 'scopes', type: 'array', operators: ['contains'], values: [...catalogue].sort() },
      { field: 'created_by', type: 'string', operators: ['eq'] },
      { field: 'status', type: 'string', operators: ['eq'], values: statuses },
    ],
    sort: {
      fields: sortFields,
      orders: ['asc', 'desc'],
      default: { sort_by: 'created', sort_order: 'desc' },
    },
    size: { default: defaultPageSize, max: maxPageSize },
  };
  return {
    method: 'GET',
    path: '/api/admin/api-keys/filters',
    guard: { scopes: ['apikeys:read'] },
    answer: async () => ({ status: 200, body }),
  };
}

/** `GET /api/admin/api-keys/scopes`: the catalogue; all of it can be granted to keys. */
export function createApiKeyScopes(catalogue: ReadonlySet<string>): Endpoint {
  const body = [...catalogue].sort();
  return {
    method: 'GET',
    path: '/api/admin/api-keys/scopes',
    guard: { scopes: ['apikeys:write'] },
    answer: async () => ({ status: 200, body }),
  };
}
