import type { Principal } from '../credentials/principal.ts';
import type { CallerRef } from '../stores/caller.ts';

/** The caller of a request, for a change that judges it again in its transaction. */
export function callerRefOf({ kind, userId, credentialId, scopes, scopeSets }: Principal): CallerRef {
  return kind === 'session' ? { kind, userId, scopes, scopeSets } : { kind, keyId: credentialId };
}
