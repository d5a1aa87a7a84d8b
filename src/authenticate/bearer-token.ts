import type { Holdings } from '../credentials/holdings.ts';
import { createPrincipal, type Principal } from '../credentials/principal.ts';
import { intersectScopes } from '../credentials/scopes.ts';
import type { Remembered, VerifiedTokens } from '../credentials/verified-tokens.ts';
import { Refusal } from '../errors.ts';
import type { Awaitable } from '../stores/awaitable.ts';
import type { Records } from '../stores/records.ts';
import { admitsSession } from '../stores/session-epoch.ts';
import type { LiveSession, Sessions } from '../stores/sessions.ts';
import type { UserWithSets } from '../stores/user.ts';

const none: readonly string[] = [];

/** Identifies the caller by an access token; synchronous when everything is cached. Refuses with `invalid_token`. */
export type BearerTokenAuthenticator = (token: string) => Awaitable<Principal>;

/**
 * Creates the authenticator of access tokens. The signature is verified once and the identity cached; whether the
 * session is live is checked on every request, and after a change of the records the identity is resolved again.
 */
export function createBearerTokenAuthenticator(options: {
  readonly tokens: VerifiedTokens<Principal>;
  readonly sessions: Pick<Sessions, 'findLive'>;
  readonly records: Pick<Records, 'version' | 'findUser'>;
  readonly holdings: Holdings;
  readonly tenant: string;
}): BearerTokenAuthenticator {
  const { tokens, sessions, records, holdings, tenant } = options;

  function resolve(token: Remembered<Principal>): Awaitable<Principal> {
    const live = sessions.findLive(token.claims.sessionId);
    return live instanceof Promise
      ? live.then((found) => resolveUser(token, found))
      : resolveUser(token, live);
  }

  function resolveUser(token: Remembered<Principal>, live: LiveSession | undefined): Awaitable<Principal> {
    if (live === undefined || live.userId !== token.claims.userId)
      throw new Refusal('invalid_token', { reason: 'session ended' });
    const version = records.version();
    if (token.principal !== undefined && token.recordsVersion === version) return token.principal;
    const user = records.findUser(live.userId);
    return user instanceof Promise
      ? user.then((found) => remember(token, live, found, version))
      : remember(token, live, user, version);
  }

  function remember(
    token: Remembered<Principal>,
    live: LiveSession,
    found: UserWithSets | undefined,
    version: number,
  ): Principal {
    if (found === undefined || found.user.disabled)
      throw new Refusal('invalid_token', { reason: 'user disabled or removed' });
    if (!admitsSession(found.user, live)) throw new Refusal('invalid_token', { reason: 'session ended' });
    const { user } = found;
    const held = holdings.ofUser(found);
    const scopes = intersectScopes(token.claims.scopes, held.scopes);
    const principal = createPrincipal({
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
    token.principal = principal;
    token.recordsVersion = version;
    return principal;
  }

  return (text) => {
    const known = tokens.find(text);
    return known === undefined ? tokens.verify(text).then(resolve) : resolve(known);
  };
}
