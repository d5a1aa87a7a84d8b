import { scopeSetCreate, scopeSetPatch } from '../administration/scope-set-fields.ts';
import type { Operation } from '../endpoints/endpoint.ts';
import { listQuerySchema } from '../endpoints/lists/list-spec.ts';
import { scopeSetListSpec, scopeSetPage, scopeSetRead } from '../endpoints/scope-sets/scope-set-schemas.ts';
import { noParameters } from '../input/query.ts';
import { filtersOperation } from './list-filters.ts';

const list = '/api/admin/scope-sets/';
const read = { scopes: ['scopesets:read'] } as const;
const write = { scopes: ['scopesets:write'] } as const;

/** The operations on scope sets. */
export const scopeSetOperations: readonly Operation[] = [
  {
    id: 'ScopeSets-List',
    summary: 'Lists scope sets',
    description: 'One page, the built-in `administrator` included.',
    method: 'GET',
    path: list,
    guard: read,
    query: () => listQuerySchema(scopeSetListSpec([])),
    success: { status: 200, description: 'A page of sets.', schema: () => scopeSetPage },
    refusals: ['invalid_cursor'],
  },
  {
    id: 'ScopeSets-Create',
    summary: 'Creates a scope set',
    description: 'Of scopes that the calling credential holds.',
    method: 'POST',
    path: list,
    guard: write,
    body: { schema: () => scopeSetCreate([]) },
    success: { status: 201, description: 'The set.', schema: () => scopeSetRead, headers: ['ETag'] },
    refusals: ['conflict'],
  },
  filtersOperation('ScopeSets-Filters', list, read),
  {
    id: 'ScopeSets-Read',
    summary: 'Shows a scope set',
    description: 'Its `ETag` is for `If-Match`.',
    method: 'GET',
    path: `${list}{id}`,
    guard: read,
    success: { status: 200, description: 'The set.', schema: () => scopeSetRead, headers: ['ETag'] },
    refusals: ['not_found'],
  },
  {
    id: 'ScopeSets-Change',
    summary: 'Changes a scope set',
    description:
      'At once for all that hold it. The calling credential has to hold what the set gave and what it will give.',
    method: 'PATCH',
    path: `${list}{id}`,
    guard: write,
    takesIfMatch: true,
    body: { schema: () => scopeSetPatch([]) },
    success: {
      status: 200,
      description: 'The set as changed.',
      schema: () => scopeSetRead,
      headers: ['ETag'],
    },
    refusals: ['not_found', 'precondition_failed', 'conflict', 'managed'],
  },
  {
    id: 'ScopeSets-Delete',
    summary: 'Deletes a scope set',
    description: 'That no user, identity or key holds.',
    method: 'DELETE',
    path: `${list}{id}`,
    guard: write,
    takesIfMatch: true,
    query: () => noParameters,
    success: { status: 204, description: 'Gone.' },
    refusals: ['not_found', 'precondition_failed', 'conflict', 'in_use', 'managed'],
  },
];
