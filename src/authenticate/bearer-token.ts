import type { Holdings } from '../credentials/holdings.ts';
import type { Principal } from '../credentials/principal.ts';
import type { Remembered, VerifiedTokens } from '../credentials/verified-tokens.ts';
import { Refusal } from '../errors.ts';
import type { Awaitable } from '../stores/awaitable.ts';
import type { Records } from '../stores/records.ts';
import type { LiveSession, Sessions } from '../stores/sessions.ts';
import type { UserWithSets } from '../stores/user.ts';
import { principalOfSession } from './session-principal.ts';

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
  const { tokens, sessions, records } = options;

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
    const principal = principalOfSession(live, found, token.claims.scopes, options);
    if (typeof principal === 'string') throw new Refusal('invalid_token', { reason: principal });
    token.principal = principal;
    token.recordsVersion = version;
    return principal;
  }

  return (text) => {
    const known = tokens.find(text);
    return known === undefined ? tokens.verify(text).then(resolve) : resolve(known);
  };
}
