import type { ApiKey, RemovedApiKey } from '../stores/api-key.ts';
import type { ChangeEvent } from './audit.ts';

/** An audit event about a key; `subject` is the id of its user, null if that is left open. */
export function keyEvent(
  event: ChangeEvent['event'],
  { id, label }: RemovedApiKey,
  subject: string | null,
): ChangeEvent {
  return { event, subject, key: id, target: { type: 'api_key', id, label } };
}

/** The audit event of a key that was created, with the rights that were granted to it. */
export function createdKeyEvent(
  key: Pick<ApiKey, 'id' | 'label' | 'createdBy' | 'scopes' | 'scopeSets'>,
): ChangeEvent {
  const granted = (added: readonly string[]) => ({ added, removed: [] });
  return {
    ...keyEvent('api_key_created', key, key.createdBy),
    changes: { scopes: granted(key.scopes), scope_sets: granted(key.scopeSets) },
  };
}
