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
import type { Endpoint } from '../endpoint.ts';
import { readWriteBody } from '../write-body.ts';

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
export function createScopeSetCreate(options: ScopeSetChangeOptions): Endpoint {
  const { records, catalogue, audit } = options;
  const schema = scopeSetCreate([...catalogue].sort());
  return {
    method: 'POST',
    path: '/api/admin/scope-sets',
    guard: { scopes: needed },
    async handle(call) {
      const by = callerIn(call);
      const form = await readWriteBody(call, schema);
      const scopes = form.scopes.toSorted();
      const created = await records.createScopeSet({
        caller: by.ref,
        decide(_, caller) {
          assertMayChange(options, caller, scopes);
          return { id: uuidv7(), name: form.name, description: form.description, scopes };
        },
        audit: audit.withChange(by, createdSetEvents),
      });
      return {
        status: 201,
        headers: ['ETag', entityTagOf(created)],
        body: presentScopeSet(created, catalogue),
      };
    },
  };
}

/** `PATCH /api/admin/scope-sets/{id}`: judged by what the set held and what it will. */
export function createScopeSetPatch(options: ScopeSetChangeOptions): Endpoint {
  const { records, catalogue, audit } = options;
  const schema = scopeSetPatch([...catalogue].sort());
  return {
    method: 'PATCH',
    path: '/api/admin/scope-sets/{id}',
    guard: { scopes: needed },
    async handle(call) {
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
          assertMayChange(options, caller, [...scopesOf(found, catalogue), ...(scopes ?? [])]);
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
    },
  };
}

/** `DELETE /api/admin/scope-sets/{id}`: of a set that nothing holds. */
export function createScopeSetDelete(options: ScopeSetChangeOptions): Endpoint {
  const { records, catalogue, audit } = options;
  return {
    method: 'DELETE',
    path: '/api/admin/scope-sets/{id}',
    guard: { scopes: needed },
    async handle(call) {
      const { exchange, id } = call;
      const by = callerIn(call);
      readQuery(exchange.query, noParameters);
      const isRemoved = await records.removeScopeSet(id, {
        caller: by.ref,
        decide(found, caller) {
          assertIfMatch(exchange.head, found);
          assertMayChange(options, caller, scopesOf(found, catalogue));
          assertChangeable(found);
        },
        audit: audit.withChange(by, removedSetEvents),
      });
      if (!isRemoved) throw new Refusal('not_found');
      return { status: 204 };
    },
  };
}

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
