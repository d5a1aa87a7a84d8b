import { uuidv7 } from 'uuidv7';
import { rightsOf } from '../../administration/caller-rights.ts';
import { assertHolds } from '../../administration/no-way-up.ts';
import type { Holdings } from '../../credentials/holdings.ts';
import { heldScopes } from '../../credentials/scopes.ts';
import { Refusal } from '../../errors.ts';
import { assertIfMatch, entityTagOf } from '../../http/if-match.ts';
import { readJson } from '../../input/json-body.ts';
import type { AuditEventName } from '../../log/audit-events.ts';
import type { CallerFound } from '../../stores/caller.ts';
import { administratorSetId } from '../../stores/scope-set.ts';
import type { Changed, ScopeSetRecord, ScopeSetRecords } from '../../stores/scope-set-records.ts';
import { actorOf } from '../audit.ts';
import { callerRefOf } from '../caller-ref.ts';
import type { ChangeAudit, ChangeEntry } from '../change-audit.ts';
import { changesBetween } from '../changes-between.ts';
import type { Call, Endpoint } from '../endpoint.ts';
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
    async handle({ exchange, principal, body }) {
      const form = readJson(body, exchange.head.contentType, schema);
      const scopes = form.scopes.toSorted();
      const created = await records.createScopeSet({
        caller: callerRefOf(principal),
        decide(_, caller) {
          assertMayChange(options, caller, scopes);
          return { id: uuidv7(), name: form.name, description: form.description, scopes };
        },
        audit: changeAudit(exchange, (set: ScopeSetRecord) => [
          {
            ...entryOf('scope_set_created', principal, set),
            changes: changesBetween({}, auditedFields(set)),
          },
        ]),
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
    async handle({ exchange, principal, id, body }) {
      const { name, description, scopes } = readJson(body, exchange.head.contentType, schema);
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
        audit: changeAudit(exchange, ({ before, after }: Changed<ScopeSetRecord>) =>
          before === after
            ? []
            : [
                {
                  ...entryOf('scope_set_changed', principal, after),
                  changes: changesBetween(auditedFields(before), auditedFields(after)),
                },
              ],
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
      const isRemoved = await records.removeScopeSet(id, {
        caller: callerRefOf(principal),
        decide(found, caller) {
          assertIfMatch(exchange.head, found);
          assertMayChange(options, caller, scopesOf(found, catalogue));
          assertChangeable(found);
        },
        audit: changeAudit(exchange, (set: ScopeSetRecord) => [
          {
            ...entryOf('scope_set_removed', principal, set),
            changes: changesBetween(auditedFields(set), {}),
          },
        ]),
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

function entryOf(event: AuditEventName, principal: Call['principal'], { id }: ScopeSetRecord): ChangeEntry {
  return {
    event,
    outcome: 'success',
    actor: actorOf(principal),
    subject: null,
    target: { type: 'scope_set', id },
  };
}

function auditedFields({ name, description, scopes }: ScopeSetRecord) {
  return { name, description, scopes };
}
