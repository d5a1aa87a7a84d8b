import type { AuditEventName } from '../../log/audit-events.ts';
import type { Actor } from '../../log/log.ts';
import type { ApiKey, RemovedApiKey } from '../../stores/api-key.ts';
import type { ChangeEntry } from '../change-audit.ts';

/** An audit entry about a key; `subject` is the id of its user, null if that is left open. */
export function keyEntry(
  event: AuditEventName,
  actor: Actor,
  { id, label }: RemovedApiKey,
  subject: string | null,
): ChangeEntry {
  return { event, outcome: 'success', actor, subject, key: id, target: { type: 'api_key', id, label } };
}

/** The audit entry of a key that was created, with what was granted to it. */
export function createdKeyEntry(
  actor: Actor,
  key: Pick<ApiKey, 'id' | 'label' | 'createdBy' | 'scopes' | 'scopeSets'>,
): ChangeEntry {
  const granted = (added: readonly string[]) => ({ added, removed: [] });
  return {
    ...keyEntry('api_key_created', actor, key, key.createdBy),
    changes: { scopes: granted(key.scopes), scope_sets: granted(key.scopeSets) },
  };
}
