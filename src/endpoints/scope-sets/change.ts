import { uuidv7 } from 'uuidv7';
import type { Audit } from '../../administration/audit.ts';
import { rightsOf } from '../../administration/caller-rights.ts';
import { assertHolds } from '../../administration/privilege.ts';
import {
  changedSetEvents,
  createdSetEvents,
  removedSetEvents,
} from '../../administration/scope-set-events.ts';
import { presentScopeSet, scopeSetCreate, scopeSetPatch } from '../../administration/scope-set-fields.ts';
import type { Holdings } from '../../credentials/holdings.ts';
import { heldScopes } from '../../credentials/scopes.ts';
import { Refusal } from '../../errors.ts';
import { assertIfMatch, entityTagOf } from '../../http/if-match.ts';
import { noParameters, readQuery } from '../../input/query.ts';
import type { CallerFound } from '../../stores/caller.ts';
import { administratorSetId } from '../../stores/scope-set.ts';
import type { ScopeSetRecord, ScopeSetRecords } from '../../stores/scope-set-records.ts';
import { callerIn } from '../caller.ts';
import type { EndpointDefinition } from '../endpoint.ts';
import { readWriteBody } from '../write-body.ts';
import { scopeSetRead } from './scope-set-schemas.ts';

const needed = ['scopesets:write'] as const;

/** What changes of scope sets need. */
export interface ScopeSetChangeOptions {
  readonly records: Pick<ScopeSetRecords, 'createScopeSet' | 'changeScopeSet' | 'removeScopeSet'>;
  readonly catalogue: ReadonlySet<string>;
  readonly holdings: Holdings;
  readonly audit: Audit;
  /** Epoch ms. */
  readonly now: () => number;
}

/** `POST /api/admin/scope-sets/`: a set of scopes that the caller holds. */
export const scopeSetsCreate: EndpointDefinition = {
  id: 'ScopeSets-Create',
  method: 'POST',
  path: '/api/admin/scope-sets/',
  guard: { scopes: needed },
  summary: 'Creates a scope set',
  description: 'Of scopes that the calling credential holds.',
  body: { schema: () => scopeSetCreate([]) },
  success: { status: 201, description: 'The set.', schema: () => scopeSetRead, headers: ['ETag'] },
  refusals: ['conflict'],

  create(parts) {
    const { records, catalogue, audit } = parts;
    const schema = scopeSetCreate([...catalogue].sort());
    return async (call) => {
      const by = callerIn(call);
      const form = await readWriteBody(call, schema);
      const scopes = form.scopes.toSorted();
      const created = await records.createScopeSet({
        caller: by.ref,
        decide(_, caller) {
          assertMayChange(parts, caller, scopes);
          return { id: uuidv7(), name: form.name, description: form.description, scopes };
        },
        audit: audit.withChange(by, createdSetEvents),
      });
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
  guard: { scopes: needed },
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
    const { records, catalogue, audit } = parts;
    const schema = scopeSetPatch([...catalogue].sort());
    return async (call) => {
      const { exchange, id } = call;
      const by = callerIn(call);
      const { name, description, scopes } = await readWriteBody(call, schema);
      const changes = {
        ...(name !== undefined && { name }),
        ...(description !== undefined && { description: description ?? '' }),
        ...(scopes !== undefined && { scopes: scopes.toSorted() }),
      };
      const changed = await records.changeScopeSet(id, {
        caller: by.ref,
        decide(found, caller) {
          assertIfMatch(exchange.head, found);
          assertMayChange(parts, caller, [...scopesOf(found, catalogue), ...(scopes ?? [])]);
          assertChangeable(found);
          return changes;
        },
        audit: audit.withChange(by, changedSetEvents),
      });
      if (changed === undefined) throw new Refusal('not_found');
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
  guard: { scopes: needed },
  summary: 'Deletes a scope set',
  description: 'That no user, identity or key holds.',
  takesIfMatch: true,
  query: () => noParameters,
  success: { status: 204, description: 'Gone.' },
  refusals: ['not_found', 'precondition_failed', 'conflict', 'in_use', 'managed'],

  create(parts) {
    const { records, catalogue, audit } = parts;
    return async (call) => {
      const { exchange, id } = call;
      const by = callerIn(call);
      readQuery(exchange.query, noParameters);
      const isRemoved = await records.removeScopeSet(id, {
        caller: by.ref,
        decide(found, caller) {
          assertIfMatch(exchange.head, found);
          assertMayChange(parts, caller, scopesOf(found, catalogue));
          assertChangeable(found);
        },
        audit: audit.withChange(by, removedSetEvents),
      });
      if (!isRemoved) throw new Refusal('not_found');
      return { status: 204 };
    };
  },
};

function assertMayChange(
  { holdings, now }: ScopeSetChangeOptions,
  caller: CallerFound,
  scopes: readonly string[],
): void {
  assertHolds(rightsOf(caller, holdings, now()), { scopes, scopeSets: [] }, needed);
}

/** What the set gives: of scopes that the catalogue no longer has, nothing. */
function scopesOf(set: ScopeSetRecord, catalogue: ReadonlySet<string>): readonly string[] {
  return heldScopes([], [set], catalogue);
}

function assertChangeable({ id, managed }: ScopeSetRecord): void {
  if (id === administratorSetId) throw new Refusal('conflict');
  if (managed) throw new Refusal('managed');
}
