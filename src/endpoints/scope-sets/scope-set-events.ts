import type { AuditEventName } from '../../log/audit-events.ts';
import type { Actor } from '../../log/log.ts';
import type { Changed, ScopeSetRecord } from '../../stores/scope-set-records.ts';
import type { ChangeEntry } from '../change-audit.ts';
import { changesBetween } from '../changes-between.ts';

/** The audit entries of a scope set that was created. */
export function createdSetEntries(actor: Actor, set: ScopeSetRecord): readonly ChangeEntry[] {
  return [
    { ...entryAbout('scope_set_created', actor, set), changes: changesBetween({}, auditedFields(set)) },
  ];
}

/** The audit entries of a change to a scope set; none if nothing was changed. */
export function changedSetEntries(
  actor: Actor,
  { before, after }: Changed<ScopeSetRecord>,
): readonly ChangeEntry[] {
  if (before === after) return [];
  const changes = changesBetween(auditedFields(before), auditedFields(after));
  return [{ ...entryAbout('scope_set_changed', actor, after), changes }];
}

/** The audit entries of a scope set that was removed. */
export function removedSetEntries(actor: Actor, set: ScopeSetRecord): readonly ChangeEntry[] {
  return [
    { ...entryAbout('scope_set_removed', actor, set), changes: changesBetween(auditedFields(set), {}) },
  ];
}

function entryAbout(event: AuditEventName, actor: Actor, { id }: ScopeSetRecord): ChangeEntry {
  return { event, outcome: 'success', actor, subject: null, target: { type: 'scope_set', id } };
}

function auditedFields({ name, description, scopes, managed }: ScopeSetRecord) {
  return { name, description, scopes, managed: managed || undefined };
}
