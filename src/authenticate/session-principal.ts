import type { Holdings } from '../credentials/holdings.ts';
import { createPrincipal, type Principal } from '../credentials/principal.ts';
import type { VerifiedCredential } from '../credentials/principal-cache.ts';
import { intersectScopes } from '../credentials/scopes.ts';
import { type ClaimsOf, noClaims } from '../credentials/session-claims.ts';
import type { Reason } from '../reasons.ts';
import type { Awaitable } from '../stores/awaitable.ts';
import type { Records } from '../stores/records.ts';
import { admitsSession } from '../stores/session-epoch.ts';
import type { LiveSession, Sessions } from '../stores/sessions.ts';
import type { UserWithSets } from '../stores/user.ts';

/** Dependencies of {@link createSessionPrincipals}. */
export interface SessionPrincipalParts {
  readonly sessions: Pick<Sessions, 'findLive'>;
  readonly records: Pick<Records, 'version' | 'findUser'>;
  readonly holdings: Holdings;
  readonly tenant: string;
  /** Null: no upstream is told of claims, so none is read. */
  readonly claimsOf: ClaimsOf | null;
}

/** Verified content of a credential that stands for a session. */
export interface SessionProof {
  readonly sessionId: string;
  /** The user whom the credential names; absent if it names none. */
  readonly userId?: string;
  readonly scopes: readonly string[];
}

/**
 * Resolves a verified credential to the principal of its session, or to the reason why there is none; synchronous when everything
 * is cached. The session is checked on every request, and after a change of the records the identity is resolved again. Rejects
 * with `store_unavailable`.
 */
export type PrincipalOfSession = (
  credential: VerifiedCredential<SessionProof>,
) => Awaitable<Principal | Reason>;

/** Creates the function that resolves credentials to principals. */
export function createSessionPrincipals(parts: SessionPrincipalParts): PrincipalOfSession {
  const { sessions, records } = parts;

  function ofLive(
    credential: VerifiedCredential<SessionProof>,
    live: LiveSession | undefined,
  ): Awaitable<Principal | Reason> {
    const { userId } = credential.proof;
    if (live === undefined || (userId !== undefined && live.userId !== userId)) return 'session ended';
    const version = records.version();
    const known = credential.principalAt(version);
    if (known !== undefined && known.expires === live.expires) return known;
    const user = records.findUser(live.userId);
    return user instanceof Promise
      ? user.then((found) => ofUser(credential, live, found, version))
      : ofUser(credential, live, user, version);
  }

  function ofUser(
    credential: VerifiedCredential<SessionProof>,
    live: LiveSession,
    found: UserWithSets | undefined,
    version: number,
  ): Principal | Reason {
    const principal = principalOfSession(live, found, credential.proof.scopes, parts);
    if (typeof principal !== 'string') credential.resolve(principal, version);
    return principal;
  }

  return (credential) => {
    const live = sessions.findLive(credential.proof.sessionId);
    return live instanceof Promise
      ? live.then((found) => ofLive(credential, found))
      : ofLive(credential, live);
  };
}

const none: readonly string[] = [];

/**
 * Returns the principal of a live session, or the reason why its user may not use it. `named`: the scopes that the credential
 * names. They limit a restricted session; any other session has everything that its user holds now.
 */
function principalOfSession(
  live: LiveSession,
  found: UserWithSets | undefined,
  named: readonly string[],
  { holdings, tenant, claimsOf }: SessionPrincipalParts,
): Principal | Reason {
  if (found === undefined || found.user.disabled) return 'user disabled or removed';
  if (!admitsSession(found.user, live)) return 'session ended';
  const { user } = found;
  const { isRestricted, origin } = live;
  const held = holdings.ofUser(found, origin);
  const scopes = isRestricted ? intersectScopes(named, held.scopes) : held.scopes;
  return createPrincipal({
    kind: 'session',
    userId: user.id,
    username: user.username,
    displayName: user.displayName,
    email: user.email,
    scopes,
    // A set may grow beyond the requested scopes, even if those are the whole set today.
    scopeSets: isRestricted ? none : held.scopeSets,
    scopeSetNames: holdings.namesOf(found.sets, held, scopes, isRestricted),
    isRestricted,
    origin,
    // A claim may stand for rights that the session was not asked for.
    claims: isRestricted || claimsOf === null ? noClaims : claimsOf(live),
    credentialId: live.id,
    epoch: live.epoch,
    expires: live.expires,
    tenant,
  });
}
