import type { Changed, ScopeSetRecord } from '../stores/scope-set-records.ts';
import type { ChangeEvent } from './audit.ts';
import { changesBetween } from './changes-between.ts';

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
