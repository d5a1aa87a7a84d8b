import { presentScopeSet } from '../../administration/scope-set-fields.ts';
import { Refusal } from '../../errors.ts';
import { entityTagOf } from '../../http/if-match.ts';
import type { ScopeSetQuery, ScopeSetRecord } from '../../stores/scope-set-records.ts';
import type { EndpointDefinition } from '../endpoint.ts';
import { defineFilters } from '../lists/filters.ts';
import { createListRequests } from '../lists/list-request.ts';
import { listQuerySchema } from '../lists/list-spec.ts';
import { scopeSetListSpec, scopeSetPage, scopeSetRead } from './scope-set-schemas.ts';

const guard = { scopes: ['scopesets:read'] } as const;

/** `GET /api/admin/scope-sets/`: one page of the scope sets, the built-in one included. */
export const scopeSetsList: EndpointDefinition = {
  id: 'ScopeSets-List',
  method: 'GET',
  path: '/api/admin/scope-sets/',
  guard,
  summary: 'Lists scope sets',
  description: 'One page, the built-in `administrator` included.',
  query: () => listQuerySchema(scopeSetListSpec([])),
  success: { status: 200, description: 'A page of sets.', schema: () => scopeSetPage },
  refusals: ['invalid_cursor'],

  create({ records, cursors, catalogue }) {
    const readRequest = createListRequests(scopeSetListSpec([...catalogue].sort()), cursors);
    return async ({ exchange }) => {
      const { query, body } = readRequest(exchange.query);
      const page = await records.listScopeSets(query as ScopeSetQuery);
      const options = {
        positionOf: (set: ScopeSetRecord) => ({ value: set[query.sortBy], id: set.id }),
        present: (set: ScopeSetRecord) => presentScopeSet(set, catalogue),
      };
      return { status: 200, body: body(page, options) };
    };
  },
};

/** `GET /api/admin/scope-sets/filters`: the fields by which the list is filtered and sorted. */
export const scopeSetsFilters = defineFilters('ScopeSets-Filters', scopeSetsList, ({ catalogue }) =>
  scopeSetListSpec([...catalogue].sort()),
);

/** `GET /api/admin/scope-sets/{id}`. */
export const scopeSetsRead: EndpointDefinition = {
  id: 'ScopeSets-Read',
  method: 'GET',
  path: '/api/admin/scope-sets/{id}',
  guard,
  summary: 'Shows a scope set',
  description: 'Its `ETag` is for `If-Match`.',
  success: { status: 200, description: 'The set.', schema: () => scopeSetRead, headers: ['ETag'] },
  refusals: ['not_found'],

  create({ records, catalogue }) {
    return async ({ id }) => {
      const set = await records.findScopeSet(id);
      if (set === undefined) throw new Refusal('not_found');
      return { status: 200, headers: ['ETag', entityTagOf(set)], body: presentScopeSet(set, catalogue) };
    };
  },
};
