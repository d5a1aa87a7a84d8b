import type { AuditChanges } from '../log/audit-events.ts';

/** The audited fields of a record, by their names in the interface. */
export interface AuditedFields extends Readonly<Record<string, unknown>> {
  readonly scopes?: readonly string[];
  readonly scope_sets?: readonly string[];
}

/**
 * The difference between two states of a record: the scopes and sets that were added or removed, and only the names of
 * other fields.
 */
export function changesBetween(before: AuditedFields, after: AuditedFields): AuditChanges | null {
  const { scopes, scope_sets, ...others } = after;
  const fields = Object.keys(others).filter((name) => before[name] !== others[name]);
  const changes = {
    ...(fields.length > 0 && { fields }),
    ...difference('scopes', before.scopes, scopes),
    ...difference('scope_sets', before.scope_sets, scope_sets),
  };
  return Object.keys(changes).length === 0 ? null : changes;
}

function difference(name: string, before: readonly string[] = [], after: readonly string[] = []) {
  const added = after.filter((item) => !before.includes(item));
  const removed = before.filter((item) => !after.includes(item));
  return added.length + removed.length === 0 ? {} : { [name]: { added, removed } };
}
