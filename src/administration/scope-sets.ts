import { uuidv7 } from 'uuidv7';
import { z } from 'zod';
import { heldScopes } from '../credentials/scopes.ts';
import { Refusal } from '../errors.ts';
import {
  codePointString,
  distinctList,
  linesWithoutControlCharacters,
  oneOf,
  withoutControlCharacters,
} from '../input/pydantic-types.ts';
import type { CallerFound } from '../stores/caller.ts';
import { administratorSetId } from '../stores/scope-set.ts';
import type { Changed, ScopeSetRecord } from '../stores/scope-set-records.ts';
import { type ChangeEvent, changesBetween } from './audit.ts';
import { assertHolds, type Caller, rightsOf } from './caller.ts';
import { toTimestamp } from './timestamp.ts';
import type { PartsWith, UseCaseParts } from './use-case.ts';

/** Scopes required to change scope sets. */
export const scopeSetsWrite = ['scopesets:write'] as const;

const maxScopes = 256;
const maxDescription = 1024;

function setFields(catalogue: readonly string[]) {
  return {
    name: codePointString({ min: 1, max: 128, trim: true, pattern: withoutControlCharacters }),
    description: codePointString({ max: maxDescription, pattern: linesWithoutControlCharacters }),
    scopes: distinctList(oneOf(catalogue), { max: maxScopes }).describe(
      "Of the catalogue and the caller's own.",
    ),
  };
}

/** Schema of a new scope set. `catalogue` is sorted; empty: any scope (for the OpenAPI document). */
export function scopeSetCreate(catalogue: readonly string[]) {
  const { name, description, scopes } = setFields(catalogue);
  return z
    .strictObject({ name, description: description.default(''), scopes })
    .meta({ id: 'ScopeSetCreate' });
}

/** Schema of a merge patch (RFC 7396) of a scope set; `catalogue` as in {@link scopeSetCreate}. */
export function scopeSetPatch(catalogue: readonly string[]) {
  const { name, description, scopes } = setFields(catalogue);
  return z
    .strictObject({
      name: name.optional(),
      description: description.nullable().optional().describe('Null: empty.'),
      scopes: scopes.optional().describe('Replaces all.'),
    })
    .meta({ id: 'ScopeSetPatch', description: 'A merge patch (RFC 7396): absent members stay.' });
}

type ScopeSetPatch = z.output<ReturnType<typeof scopeSetPatch>>;

/** Presents a scope set as `ScopeSetRead`. */
export function presentScopeSet(
  { id, name, description, scopes, created, updated, managed }: ScopeSetRecord,
  catalogue: ReadonlySet<string>,
) {
  return {
    id,
    name,
    description,
    scopes: id === administratorSetId ? [...catalogue].sort() : [...scopes],
    created: toTimestamp(created),
    updated: toTimestamp(updated),
    managed,
  };
}

/** Creates a set of scopes, all of which the caller must hold. Rejects with `insufficient_scope`, `conflict`. */
export function createScopeSet(
  { records, audit, ...parts }: PartsWith<'createScopeSet'>,
  by: Caller,
  fields: Pick<ScopeSetRecord, 'name' | 'description' | 'scopes'>,
): Promise<ScopeSetRecord> {
  const { name, description } = fields;
  const scopes = fields.scopes.toSorted();
  return records.createScopeSet({
    caller: by.ref,
    decide(_, caller) {
      assertMayChange(parts, caller, scopes);
      return { id: uuidv7(), name, description, scopes };
    },
    audit: audit.withChange(by, createdSetEvents),
  });
}

/**
 * Changes a set if the caller holds its scopes from before and after the change; `judge` is called before the caller's rights are
 * judged. Rejects with `not_found`, `insufficient_scope`, `conflict`, `managed`.
 */
export async function changeScopeSet(
  { records, audit, ...parts }: PartsWith<'changeScopeSet'>,
  by: Caller,
  id: string,
  { name, description, scopes }: ScopeSetPatch,
  judge: (found: ScopeSetRecord) => void = () => {},
): Promise<ScopeSetRecord> {
  const changes = {
    ...(name !== undefined && { name }),
    ...(description !== undefined && { description: description ?? '' }),
    ...(scopes !== undefined && { scopes: scopes.toSorted() }),
  };
  const changed = await records.changeScopeSet(id, {
    caller: by.ref,
    decide(found, caller) {
      judge(found);
      assertMayChange(parts, caller, [...grantedBy(found, parts), ...(scopes ?? [])]);
      assertChangeable(found);
      return changes;
    },
    audit: audit.withChange(by, changedSetEvents),
  });
  if (changed === undefined) throw new Refusal('not_found');
  return changed;
}

/**
 * Removes a set that no user, identity or key holds, if the caller holds its scopes; resolves to the removed set. Rejects with
 * `not_found`, `insufficient_scope`, `conflict`, `managed`, `in_use`.
 */
export async function removeScopeSet(
  { records, audit, ...parts }: PartsWith<'removeScopeSet'>,
  by: Caller,
  id: string,
  judge: (found: ScopeSetRecord) => void = () => {},
): Promise<ScopeSetRecord> {
  let removed: ScopeSetRecord | undefined;
  const isRemoved = await records.removeScopeSet(id, {
    caller: by.ref,
    decide(found, caller) {
      judge(found);
      assertMayChange(parts, caller, grantedBy(found, parts));
      assertChangeable(found);
      removed = found;
    },
    audit: audit.withChange(by, removedSetEvents),
  });
  if (!isRemoved || removed === undefined) throw new Refusal('not_found');
  return removed;
}

type Judges = Pick<UseCaseParts, 'catalogue' | 'holdings' | 'now'>;

function assertMayChange({ holdings, now }: Judges, caller: CallerFound, scopes: readonly string[]): void {
  assertHolds(rightsOf(caller, holdings, now()), { scopes, scopeSets: [] }, scopeSetsWrite);
}

/** The scopes that a set grants, without those that the catalogue no longer has. */
function grantedBy(set: ScopeSetRecord, { catalogue }: Judges): readonly string[] {
  return heldScopes([], [set], catalogue);
}

function assertChangeable({ id, managed }: ScopeSetRecord): void {
  if (id === administratorSetId) throw new Refusal('conflict');
  if (managed) throw new Refusal('managed');
}

/** The audit events of a scope set that was created. */
export function createdSetEvents(set: ScopeSetRecord): readonly ChangeEvent[] {
  return [setEvent('scope_set_created', null, set)];
}

/** The audit events of a change to a scope set; none if nothing was changed. */
export function changedSetEvents({ before, after }: Changed<ScopeSetRecord>): readonly ChangeEvent[] {
  return before === after ? [] : [setEvent('scope_set_changed', before, after)];
}

/** The audit events of a scope set that was removed. */
export function removedSetEvents(set: ScopeSetRecord): readonly ChangeEvent[] {
  return [setEvent('scope_set_removed', set, null)];
}

function setEvent(
  event: ChangeEvent['event'],
  before: ScopeSetRecord | null,
  after: ScopeSetRecord | null,
): ChangeEvent {
  const { id } = (after ?? before)!;
  const changes = changesBetween(auditedFields(before), auditedFields(after));
  return { event, subject: null, target: { type: 'scope_set', id }, changes };
}

function auditedFields(set: ScopeSetRecord | null) {
  if (set === null) return {};
  const { name, description, scopes, managed } = set;
  return { name, description, scopes, managed: managed || undefined };
}
