import type { Principal } from '../credentials/principal.ts';
import type { VerifiedTokens } from '../credentials/verified-tokens.ts';
import { Refusal } from '../errors.ts';
import type { Reason } from '../reasons.ts';
import type { Awaitable } from '../stores/awaitable.ts';
import type { PrincipalOfSession } from './session-principal.ts';

/** Identifies the caller by an access token; synchronous when everything is cached. Refuses with `invalid_token`. */
export type BearerTokenAuthenticator = (token: string) => Awaitable<Principal>;

/** Creates the authenticator of access tokens. A signature is verified once. */
export function createBearerTokenAuthenticator(
  tokens: VerifiedTokens,
  principalOf: PrincipalOfSession,
): BearerTokenAuthenticator {
  return (text) => {
    const token = tokens.find(text);
    const found = token === undefined ? tokens.verify(text).then(principalOf) : principalOf(token);
    return found instanceof Promise ? found.then(admit) : admit(found);
  };
}

function admit(found: Principal | Reason): Principal {
  if (typeof found === 'string') throw new Refusal('invalid_token', { reason: found });
  return found;
}
