import type { Principal } from '../credentials/principal.ts';
import type { VerifiedTokens } from '../credentials/verified-tokens.ts';
import { Refusal } from '../errors.ts';
import type { RequestHead } from '../http/request-head.ts';
import { isWebSocketRequest, offeredTokens } from '../http/websocket-protocols.ts';
import type { Reason } from '../reasons.ts';
import type { Awaitable } from '../stores/awaitable.ts';
import type { ApiKeyAuthenticator } from './api-key.ts';
import type { PrincipalOfSession } from './session-principal.ts';

/** Identifies the caller by an access token; synchronous when everything is cached. Refuses with `invalid_token`. */
type BearerTokenAuthenticator = (token: string) => Awaitable<Principal>;

/**
 * Identifies the caller; null without a credential. With `otherSchemesPass` (public routes) an `Authorization` of another scheme
 * is ignored. Refuses with `ambiguous_credentials`, `invalid_token`, `invalid_api_key`, `not_authenticated`, `cross_site`,
 * `store_unavailable`.
 */
export type Authenticate = (head: RequestHead, otherSchemesPass: boolean) => Awaitable<Principal | null>;

/** Creates the authenticator of access tokens, which verifies each token's signature only once. */
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

/** Creates the only reader of `Authorization` and `X-API-Key` (RFC 6750 §2.1); query and body are never considered. */
export function createAuthenticate(options: {
  readonly bearerToken: BearerTokenAuthenticator;
  readonly apiKey: ApiKeyAuthenticator;
  /** True if a key is accepted as `Authorization: Bearer`, too. */
  readonly takesBearerKeys: boolean;
  /** True if pages of that origin may open a WebSocket with a token: our own origin, or one of `cors.origins`. */
  readonly isKnownOrigin: (origin: string) => boolean;
}): Authenticate {
  const { bearerToken, apiKey, takesBearerKeys, isKnownOrigin } = options;

  /** Identifies a browser's WebSocket by the token among its subprotocols, if any, and checks the page's origin. */
  function ofSubprotocol(head: RequestHead): Awaitable<Principal | null> {
    const [token, ...others] = isWebSocketRequest(head) ? offeredTokens(head.webSocketProtocols) : [];
    if (token === undefined) return null;
    if (others.length > 0) throw new Refusal('ambiguous_credentials');
    if (head.originCount !== 1 || !isKnownOrigin(head.origin)) throw new Refusal('cross_site');
    return bearerToken(token);
  }

  return (head, otherSchemesPass) => {
    const { authorizationCount, apiKeyCount } = head;
    if (authorizationCount + apiKeyCount === 0)
      return head.webSocketProtocols === '' ? null : ofSubprotocol(head);
    if (head.webSocketProtocols !== '' && offeredTokens(head.webSocketProtocols).length > 0)
      throw new Refusal('ambiguous_credentials');
    if (authorizationCount > 1 || apiKeyCount > 1) throw new Refusal('ambiguous_credentials');
    if (authorizationCount === 0) return apiKey(head.apiKey);
    const token = bearerTokenOf(head.authorization);
    if (token === undefined && otherSchemesPass) return apiKeyCount === 0 ? null : apiKey(head.apiKey);
    if (apiKeyCount === 1) throw new Refusal('ambiguous_credentials');
    if (token === undefined) throw new Refusal('not_authenticated', { reason: 'not a bearer token' });
    // A token has two dots (RFC 7515 §3.1), a key has none.
    return takesBearerKeys && !token.includes('.') ? apiKey(token) : bearerToken(token);
  };
}

const scheme = 'bearer';
const space = 0x20;
const tab = 0x09;

/**
 * Returns the text after `Bearer` (in any case) and one space, possibly empty; undefined for another scheme. Further blanks
 * are part of the token and make it invalid (RFC 6750 §2.1).
 */
function bearerTokenOf(authorization: string): string | undefined {
  if (authorization.startsWith('Bearer ')) return authorization.slice(7);
  if (authorization.slice(0, scheme.length).toLowerCase() !== scheme) return undefined;
  if (authorization.length === scheme.length) return '';
  const after = authorization.charCodeAt(scheme.length);
  if (after === space) return authorization.slice(scheme.length + 1);
  return after === tab ? authorization.slice(scheme.length) : undefined;
}
