import { uuidv7 } from 'uuidv7';
import type { z } from 'zod';
import type { Holdings } from '../credentials/holdings.ts';
import { heldScopes } from '../credentials/scopes.ts';
import { Refusal } from '../errors.ts';
import type { CallerFound } from '../stores/caller.ts';
import { administratorSetId } from '../stores/scope-set.ts';
import type { Changed, ScopeSetRecord, ScopeSetRecords } from '../stores/scope-set-records.ts';
import type { Audit, ChangeEvent } from './audit.ts';
import type { Caller } from './caller.ts';
import { rightsOf } from './caller-rights.ts';
import { changesBetween } from './changes-between.ts';
import { assertHolds } from './privilege.ts';
import type { scopeSetPatch } from './scope-set-fields.ts';

/** Scopes that changing scope sets requires. */
export const scopeSetsWrite = ['scopesets:write'] as const;

/** Dependencies of the changes of scope sets. */
export interface ScopeSetParts {
  readonly records: Pick<ScopeSetRecords, 'createScopeSet' | 'changeScopeSet' | 'removeScopeSet'>;
  /** All scopes that can be granted. */
  readonly catalogue: ReadonlySet<string>;
  readonly holdings: Holdings;
  readonly audit: Audit;
  /** Epoch ms. */
  readonly now: () => number;
}

/** Judges a set by what the transaction of its change found, before the caller's rights are judged. */
export type JudgeSet = (found: ScopeSetRecord) => void;

/** Changes of a set; absent members stay, and null is an empty description. */
type ScopeSetPatch = z.output<ReturnType<typeof scopeSetPatch>>;

/** Creates a set of scopes that the caller holds. Rejects `insufficient_scope`, `conflict`. */
export function createScopeSet(
  { records, audit, ...parts }: ScopeSetParts,
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
 * Changes a set, if the caller holds its scopes of before and after. Rejects `not_found`, `insufficient_scope`, `conflict`,
 * `managed`.
 */
export async function changeScopeSet(
  { records, audit, ...parts }: ScopeSetParts,
  by: Caller,
  id: string,
  { name, description, scopes }: ScopeSetPatch,
  judge: JudgeSet = () => {},
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
 * Removes a set that nothing holds, if the caller holds its scopes; resolves to the set as it was. Rejects `not_found`,
 * `insufficient_scope`, `conflict`, `managed`, `in_use`.
 */
export async function removeScopeSet(
  { records, audit, ...parts }: ScopeSetParts,
  by: Caller,
  id: string,
  judge: JudgeSet = () => {},
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

type Judges = Pick<ScopeSetParts, 'catalogue' | 'holdings' | 'now'>;

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
