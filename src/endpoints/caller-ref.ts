import type { Principal } from '../credentials/principal.ts';
import type { CallerRef } from '../stores/caller.ts';

/** The caller of a request, for a change that judges it again in its transaction. */
export function callerRefOf(principal: Principal): CallerRef {
  const { kind, userId, credentialId, epoch, origin, isRestricted } = principal;
  if (kind === 'api_key') return { kind, keyId: credentialId };
  const allowed = isRestricted
    ? { scopes: principal.scopes, scopeSets: [] }
    : { scopes: null, scopeSets: null };
  return { kind, userId, session: { id: credentialId, epoch }, origin, ...allowed };
}
