import type { Principal } from '../credentials/principal.ts';
import type { CallerRef } from '../stores/caller.ts';

/** The caller of a request, for a change that judges it again in its transaction. */
export function callerRefOf(principal: Principal): CallerRef {
  const { kind, userId, credentialId, epoch, scopes, scopeSets } = principal;
  if (kind === 'api_key') return { kind, keyId: credentialId };
  return { kind, userId, session: { id: credentialId, epoch }, scopes, scopeSets };
}
