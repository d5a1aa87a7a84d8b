import { uuidv7 } from 'uuidv7';
import { rightsOf } from '../../administration/caller-rights.ts';
import { assertHolds } from '../../administration/no-way-up.ts';
import type { Holdings } from '../../credentials/holdings.ts';
import { heldScopes } from '../../credentials/scopes.ts';
import { Refusal } from '../../errors.ts';
import { assertIfMatch, entityTagOf } from '../../http/if-match.ts';
import { noParameters, readQuery } from '../../input/query.ts';
import type { CallerFound } from '../../stores/caller.ts';
import { administratorSetId } from '../../stores/scope-set.ts';
import type { Changed, ScopeSetRecord, ScopeSetRecords } from '../../stores/scope-set-records.ts';
import { actorOf } from '../audit.ts';
import { callerRefOf } from '../caller-ref.ts';
import type { ChangeAudit } from '../change-audit.ts';
import type { Endpoint } from '../endpoint.ts';
import { readWriteBody } from '../write-body.ts';
import { changedSetEntries, createdSetEntries, removedSetEntries } from './scope-set-events.ts';
import { presentScopeSet, scopeSetCreate, scopeSetPatch } from './scope-set-schemas.ts';

const needed = ['scopesets:write'] as const;

/** What changes of scope sets need. */
export interface ScopeSetChangeOptions {
  readonly records: Pick<ScopeSetRecords, 'createScopeSet' | 'changeScopeSet' | 'removeScopeSet'>;
  readonly catalogue: ReadonlySet<string>;
  readonly holdings: Holdings;
  readonly changeAudit: ChangeAudit;
  /** Epoch ms. */
  readonly now: () => number;
}

/** `POST /api/admin/scope-sets/`: a set of scopes that the caller holds. */
export function createScopeSetCreate(options: ScopeSetChangeOptions): Endpoint {
  const { records, catalogue, changeAudit } = options;
  const schema = scopeSetCreate([...catalogue].sort());
  return {
    method: 'POST',
    path: '/api/admin/scope-sets',
    guard: { scopes: needed },
    async handle(call) {
      const { exchange, principal } = call;
      const form = await readWriteBody(call, schema);
      const scopes = form.scopes.toSorted();
      const created = await records.createScopeSet({
        caller: callerRefOf(principal),
        decide(_, caller) {
          assertMayChange(options, caller, scopes);
          return { id: uuidv7(), name: form.name, description: form.description, scopes };
        },
        audit: changeAudit(exchange, (set: ScopeSetRecord) => createdSetEntries(actorOf(principal), set)),
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
  const { records, catalogue, changeAudit } = options;
  const schema = scopeSetPatch([...catalogue].sort());
  return {
    method: 'PATCH',
    path: '/api/admin/scope-sets/{id}',
    guard: { scopes: needed },
    async handle(call) {
      const { exchange, principal, id } = call;
      const { name, description, scopes } = await readWriteBody(call, schema);
      const changes = {
        ...(name !== undefined && { name }),
        ...(description !== undefined && { description: description ?? '' }),
        ...(scopes !== undefined && { scopes: scopes.toSorted() }),
      };
      const changed = await records.changeScopeSet(id, {
        caller: callerRefOf(principal),
        decide(found, caller) {
          assertIfMatch(exchange.head, found);
          assertMayChange(options, caller, [...scopesOf(found, catalogue), ...(scopes ?? [])]);
          assertChangeable(found);
          return changes;
        },
        audit: changeAudit(exchange, (made: Changed<ScopeSetRecord>) =>
          changedSetEntries(actorOf(principal), made),
        ),
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
  const { records, catalogue, changeAudit } = options;
  return {
    method: 'DELETE',
    path: '/api/admin/scope-sets/{id}',
    guard: { scopes: needed },
    async handle({ exchange, principal, id }) {
      readQuery(exchange.query, noParameters);
      const isRemoved = await records.removeScopeSet(id, {
        caller: callerRefOf(principal),
        decide(found, caller) {
          assertIfMatch(exchange.head, found);
          assertMayChange(options, caller, scopesOf(found, catalogue));
          assertChangeable(found);
        },
        audit: changeAudit(exchange, (set: ScopeSetRecord) => removedSetEntries(actorOf(principal), set)),
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
