import type { Holdings } from '../credentials/holdings.ts';
import { createPrincipal, type Principal } from '../credentials/principal.ts';
import { intersectScopes } from '../credentials/scopes.ts';
import type { Reason } from '../reasons.ts';
import { admitsSession } from '../stores/session-epoch.ts';
import type { LiveSession } from '../stores/sessions.ts';
import type { UserWithSets } from '../stores/user.ts';

const none: readonly string[] = [];

/**
 * The principal of a session that is alive, for its user as found; why there is none, if the user may not use it.
 * `asked`: the scopes that the credential is restricted to; null: everything the user holds.
 */
export function principalOfSession(
  live: LiveSession,
  found: UserWithSets | undefined,
  asked: readonly string[] | null,
  { holdings, tenant }: { readonly holdings: Holdings; readonly tenant: string },
): Principal | Reason {
  if (found === undefined || found.user.disabled) return 'user disabled or removed';
  if (!admitsSession(found.user, live)) return 'session ended';
  const { user } = found;
  const held = holdings.ofUser(found);
  const scopes = asked === null ? held.scopes : intersectScopes(asked, held.scopes);
  return createPrincipal({
    kind: 'session',
    userId: user.id,
    username: user.username,
    displayName: user.displayName,
    email: user.email,
    scopes,
    // A set may grow beyond what a token was restricted to.
    scopeSets: scopes.length === held.scopes.length ? held.scopeSets : none,
    credentialId: live.id,
    epoch: live.epoch,
    expires: live.expires,
    tenant,
  });
}
