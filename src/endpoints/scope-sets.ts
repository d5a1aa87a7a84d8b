import { z } from 'zod';
import {
  changeScopeSet,
  createScopeSet,
  presentScopeSet,
  removeScopeSet,
  scopeSetCreate,
  scopeSetPatch,
  scopeSetsWrite,
} from '../administration/scope-sets.ts';
import { timestamp } from '../administration/timestamp.ts';
import { Refusal } from '../errors.ts';
import { assertIfMatch, entityTagOf } from '../http/if-match.ts';
import { noParameters, readQuery } from '../input/url-encoded.ts';
import type { ScopeSetQuery, ScopeSetRecord, ScopeSetSortField } from '../stores/scope-set-records.ts';
import { callerIn } from './caller.ts';
import type { EndpointDefinition } from './endpoint.ts';
import { defineFilters, instantOperators, type ListSpec, listQuerySchema } from './lists/list-spec.ts';
import { createListRequests, pageFields } from './lists/page.ts';
import { readWriteBody } from './write-body.ts';

const read = { scopes: ['scopesets:read'] } as const;
const write = { scopes: scopeSetsWrite } as const;

const scopeSetRead = z
  .object({
    id: z.string(),
    name: z.string(),
    description: z.string(),
    scopes: z.array(z.string()).describe('Of `administrator`: the whole catalogue.'),
    created: timestamp,
    updated: timestamp,
    managed: z.boolean().describe('Kept by the configuration, which alone may change it.'),
  })
  .meta({ id: 'ScopeSetRead' });

const scopeSetPage = z
  .object(pageFields(scopeSetRead, 'Sets that pass the filters.'))
  .meta({ id: 'ScopeSetCursorPage' });

/** `GET /api/admin/scope-sets/`: one page of the scope sets, the built-in one included. */
export const scopeSetsList: EndpointDefinition = {
  id: 'ScopeSets-List',
  method: 'GET',
  path: '/api/admin/scope-sets/',
  guard: read,
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

/** `GET /api/admin/scope-sets/{id}`: one scope set. */
export const scopeSetsRead: EndpointDefinition = {
  id: 'ScopeSets-Read',
  method: 'GET',
  path: '/api/admin/scope-sets/{id}',
  guard: read,
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

/** `POST /api/admin/scope-sets/`: creates a set of scopes, all of which the caller must hold. */
export const scopeSetsCreate: EndpointDefinition = {
  id: 'ScopeSets-Create',
  method: 'POST',
  path: '/api/admin/scope-sets/',
  guard: write,
  summary: 'Creates a scope set',
  description: 'Of scopes that the calling credential holds.',
  body: { schema: () => scopeSetCreate([]) },
  success: { status: 201, description: 'The set.', schema: () => scopeSetRead, headers: ['ETag'] },
  refusals: ['conflict'],

  create(parts) {
    const { catalogue } = parts;
    const schema = scopeSetCreate([...catalogue].sort());
    return async (call) => {
      const form = await readWriteBody(call, schema);
      const created = await createScopeSet(parts, callerIn(call), form);
      const body = presentScopeSet(created, catalogue);
      return { status: 201, headers: ['ETag', entityTagOf(created)], body };
    };
  },
};

/** `PATCH /api/admin/scope-sets/{id}`: changes a set. The caller must hold its scopes from before and after the change. */
export const scopeSetsChange: EndpointDefinition = {
  id: 'ScopeSets-Change',
  method: 'PATCH',
  path: '/api/admin/scope-sets/{id}',
  guard: write,
  summary: 'Changes a scope set',
  description:
    'At once for all that hold it. The calling credential has to hold what the set gave and what it will give.',
  takesIfMatch: true,
  body: { schema: () => scopeSetPatch([]) },
  success: {
    status: 200,
    description: 'The set as changed.',
    schema: () => scopeSetRead,
    headers: ['ETag'],
  },
  refusals: ['not_found', 'precondition_failed', 'conflict', 'managed'],

  create(parts) {
    const { catalogue } = parts;
    const schema = scopeSetPatch([...catalogue].sort());
    return async (call) => {
      const { exchange, id } = call;
      const form = await readWriteBody(call, schema);
      const changed = await changeScopeSet(parts, callerIn(call), id, form, (found) =>
        assertIfMatch(exchange.head, found),
      );
      const body = presentScopeSet(changed, catalogue);
      return { status: 200, headers: ['ETag', entityTagOf(changed)], body };
    };
  },
};

/** `DELETE /api/admin/scope-sets/{id}`: deletes a set that no user, identity or key holds. */
export const scopeSetsDelete: EndpointDefinition = {
  id: 'ScopeSets-Delete',
  method: 'DELETE',
  path: '/api/admin/scope-sets/{id}',
  guard: write,
  summary: 'Deletes a scope set',
  description: 'That no user, identity or key holds.',
  takesIfMatch: true,
  query: () => noParameters,
  success: { status: 204, description: 'Gone.' },
  refusals: ['not_found', 'precondition_failed', 'conflict', 'in_use', 'managed'],

  create(parts) {
    return async (call) => {
      const { exchange, id } = call;
      readQuery(exchange.query, noParameters);
      await removeScopeSet(parts, callerIn(call), id, (found) => assertIfMatch(exchange.head, found));
      return { status: 204 };
    };
  },
};

function scopeSetListSpec(catalogue: readonly string[]): ListSpec<ScopeSetSortField> {
  return {
    name: 'scope-sets',
    fields: [
      {
        name: 'name',
        type: 'string',
        operators: ['contains', 'eq'],
        notes: { contains: 'ASCII case-insensitive.' },
      },
      {
        name: 'scopes',
        type: 'array',
        operators: ['contains'],
        values: catalogue,
        notes: { contains: 'May come more than once; a set that has all of them.' },
      },
      { name: 'managed', type: 'boolean', operators: ['eq'] },
      { name: 'created', type: 'datetime', operators: instantOperators },
      { name: 'updated', type: 'datetime', operators: instantOperators },
    ],
    sortFields: ['created', 'name', 'updated'],
    sortNote: '`name` by code points.',
  };
}
