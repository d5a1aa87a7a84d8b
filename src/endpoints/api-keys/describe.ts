import { z } from 'zod';
import type { Endpoint } from '../endpoint.ts';
import { defaultPageSize, maxPageSize, sortFields, statuses } from './api-key-schemas.ts';

const instantOperators = ['gte', 'gt', 'lte', 'lt'] as const;

/** What a list can be filtered and sorted by. */
export const listDescription = z
  .object({
    filters: z.array(
      z.object({
        field: z.string(),
        type: z.enum(['string', 'datetime', 'array']),
        operators: z.array(z.string()).describe('A filter is the parameter `<field>__<operator>`.'),
        values: z
          .array(z.string())
          .optional()
          .describe('What the field can hold; absent: anything of its type.'),
      }),
    ),
    sort: z.object({
      fields: z.array(z.string()),
      orders: z.array(z.enum(['asc', 'desc'])),
      default: z.object({ sort_by: z.string(), sort_order: z.enum(['asc', 'desc']) }),
    }),
    size: z.object({ default: z.int().positive(), max: z.int().positive() }),
  })
  .meta({ id: 'ListDescription' });

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
