import { presentScopeSet, scopeSetCreate, scopeSetPatch } from '../../administration/scope-set-fields.ts';
import {
  changeScopeSet,
  createScopeSet,
  removeScopeSet,
  scopeSetsWrite,
} from '../../administration/scope-sets.ts';
import { assertIfMatch, entityTagOf } from '../../http/if-match.ts';
import { noParameters, readQuery } from '../../input/query.ts';
import { callerIn } from '../caller.ts';
import type { EndpointDefinition } from '../endpoint.ts';
import { readWriteBody } from '../write-body.ts';
import { scopeSetRead } from './scope-set-schemas.ts';

const guard = { scopes: scopeSetsWrite } as const;

/** `POST /api/admin/scope-sets/`: a set of scopes that the caller holds. */
export const scopeSetsCreate: EndpointDefinition = {
  id: 'ScopeSets-Create',
  method: 'POST',
  path: '/api/admin/scope-sets/',
  guard,
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
      return {
        status: 201,
        headers: ['ETag', entityTagOf(created)],
        body: presentScopeSet(created, catalogue),
      };
    };
  },
};

/** `PATCH /api/admin/scope-sets/{id}`: judged by what the set held and what it will. */
export const scopeSetsChange: EndpointDefinition = {
  id: 'ScopeSets-Change',
  method: 'PATCH',
  path: '/api/admin/scope-sets/{id}',
  guard,
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
      return {
        status: 200,
        headers: ['ETag', entityTagOf(changed)],
        body: presentScopeSet(changed, catalogue),
      };
    };
  },
};

/** `DELETE /api/admin/scope-sets/{id}`: of a set that nothing holds. */
export const scopeSetsDelete: EndpointDefinition = {
  id: 'ScopeSets-Delete',
  method: 'DELETE',
  path: '/api/admin/scope-sets/{id}',
  guard,
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
