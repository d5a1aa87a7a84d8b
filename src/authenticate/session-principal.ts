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
 * `named`: the scopes that the credential names. They limit a restricted session; any other session has everything that it
 * holds now.
 */
export function principalOfSession(
  live: LiveSession,
  found: UserWithSets | undefined,
  named: readonly string[],
  { holdings, tenant }: { readonly holdings: Holdings; readonly tenant: string },
): Principal | Reason {
  if (found === undefined || found.user.disabled) return 'user disabled or removed';
  if (!admitsSession(found.user, live)) return 'session ended';
  const { user } = found;
  const { isRestricted, origin } = live;
  const held = holdings.ofUser(found, origin);
  return createPrincipal({
    kind: 'session',
    userId: user.id,
    username: user.username,
    displayName: user.displayName,
    email: user.email,
    scopes: isRestricted ? intersectScopes(named, held.scopes) : held.scopes,
    // A set may grow beyond the requested scopes, even if those are the whole set today.
    scopeSets: isRestricted ? none : held.scopeSets,
    isRestricted,
    origin,
    credentialId: live.id,
    epoch: live.epoch,
    expires: live.expires,
    tenant,
  });
}
