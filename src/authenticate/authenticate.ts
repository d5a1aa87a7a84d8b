import type { Principal } from '../credentials/principal.ts';
import type { VerifiedTokens } from '../credentials/verified-tokens.ts';
import { Refusal } from '../errors.ts';
import { isBasic } from '../http/basic-credentials.ts';
import type { Exchange } from '../http/exchange.ts';
import type { IsKnownOriginAt } from '../http/named-hosts.ts';
import { isWebSocketRequest, offeredTokens } from '../http/websocket-protocols.ts';
import type { Reason } from '../reasons.ts';
import type { Awaitable } from '../stores/awaitable.ts';
import type { ApiKeyAuthenticator } from './api-key.ts';
import type { BasicKeys } from './basic-keys.ts';
import type { OwnCredentials } from './own-credentials.ts';
import type { PrincipalOfSession } from './session-principal.ts';

/** Identifies the caller by an access token; synchronous when everything is cached. Refuses with `invalid_token`. */
type BearerTokenAuthenticator = (token: string) => Awaitable<Principal>;

/** The rules of a route, or of an own endpoint, for credentials. */
export interface CredentialRules {
  /** True if an `Authorization` of a scheme that isn't ours is ignored. */
  readonly isPublic: boolean;
  /** True if an `Authorization` or `X-API-Key` without a credential of this tenant is the application's own. */
  readonly passesAuthorization: boolean;
}

/**
 * Identifies the caller; null without a credential. Notes in the exchange which headers are the application's own, and whether a
 * key was sent by Basic. Refuses with `ambiguous_credentials`, `invalid_token`, `invalid_api_key`, `not_authenticated`,
 * `cross_site`, `store_unavailable`.
 */
export type Authenticate = (exchange: Exchange, rules: CredentialRules) => Awaitable<Principal | null>;

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

/** Dependencies of {@link createAuthenticate}. */
export interface AuthenticateOptions {
  readonly bearerToken: BearerTokenAuthenticator;
  readonly apiKey: ApiKeyAuthenticator;
  /** True if a key is accepted as `Authorization: Bearer`, too. */
  readonly takesBearerKeys: boolean;
  /** Reads keys from `Authorization: Basic`; null: none is accepted there. */
  readonly basicKeys: BasicKeys | null;
  /** Null: no key is accepted by Basic, and no route passes headers of its application. */
  readonly own: OwnCredentials | null;
  /**
   * True if pages of that origin may open a WebSocket with a token: our own origin, or one of `cors.origins`; on a named host its
   * own origin alone.
   */
  readonly isKnownOrigin: IsKnownOriginAt;
}

/** Creates the only reader of `Authorization` and `X-API-Key` (RFC 6750 §2.1); query and body are never considered. */
export function createAuthenticate(options: AuthenticateOptions): Authenticate {
  const { bearerToken, apiKey, takesBearerKeys, basicKeys, own, isKnownOrigin } = options;

  /** Identifies a browser's WebSocket by the token among its subprotocols, if any, and checks the page's origin. */
  function ofSubprotocol({ head, namedHost }: Exchange): Awaitable<Principal | null> {
    if (head.webSocketProtocols === '') return null;
    const [token, ...others] = isWebSocketRequest(head) ? offeredTokens(head.webSocketProtocols) : [];
    if (token === undefined) return null;
    if (others.length > 0) throw new Refusal('ambiguous_credentials');
    if (head.originCount !== 1 || !isKnownOrigin(head.origin, namedHost)) throw new Refusal('cross_site');
    return bearerToken(token);
  }

  // A token has two dots (RFC 7515 §3.1), a key has none.
  const ofBearer = (token: string) =>
    takesBearerKeys && !token.includes('.') ? apiKey(token) : bearerToken(token);

  /** Identifies the caller by `Authorization` or `X-API-Key`, neither of which is there twice. */
  function ofHeaders(exchange: Exchange, isPublic: boolean): Awaitable<Principal | null> {
    const { authorization, authorizationCount, apiKey: key, apiKeyCount } = exchange.head;
    if (authorizationCount === 0) return apiKey(key);
    const token = bearerTokenOf(authorization);
    const isByBasic = token === undefined && basicKeys?.holdsKey(authorization) === true;
    if (token === undefined && !isByBasic && isPublic) return apiKeyCount === 0 ? null : apiKey(key);
    if (apiKeyCount === 1) throw new Refusal('ambiguous_credentials');
    if (token !== undefined) return ofBearer(token);
    if (!isByBasic) throw new Refusal('not_authenticated', { reason: 'not a bearer token' });
    return apiKey(basicKeys!.keyOf(exchange));
  }

  /** Identifies the caller where headers without a credential of ours are the application's, beside which any other counts. */
  function besideApplication(exchange: Exchange): Awaitable<Principal | null> {
    const { head } = exchange;
    const inAuthorization = head.authorizationCount === 0 ? null : own!.heldIn(head.authorization);
    const inApiKey = head.apiKeyCount === 0 ? null : own!.heldIn(head.apiKey);
    exchange.passesAuthorization = inAuthorization === null;
    exchange.passesApiKey = inApiKey === null;
    if (inAuthorization === null && inApiKey === null) return ofSubprotocol(exchange);
    if (offeredTokens(head.webSocketProtocols).length > 0) throw new Refusal('ambiguous_credentials');
    if (inAuthorization === null) return apiKey(head.apiKey);
    if (inApiKey !== null) throw new Refusal('ambiguous_credentials');
    const token = bearerTokenOf(head.authorization);
    if (token !== undefined) return ofBearer(token);
    if (basicKeys?.holdsKey(head.authorization) === true) return apiKey(basicKeys.keyOf(exchange));
    const code = inAuthorization === 'key' ? 'invalid_api_key' : 'invalid_token';
    throw new Refusal(code, { reason: 'not a bearer token' });
  }

  return (exchange, { isPublic, passesAuthorization }) => {
    const { head } = exchange;
    const { authorizationCount, apiKeyCount } = head;
    if (authorizationCount + apiKeyCount === 0) return ofSubprotocol(exchange);
    if (authorizationCount > 1 || apiKeyCount > 1) throw new Refusal('ambiguous_credentials');
    if (!passesAuthorization) {
      if (head.webSocketProtocols !== '' && offeredTokens(head.webSocketProtocols).length > 0)
        throw new Refusal('ambiguous_credentials');
      if (basicKeys === null || !isBasic(head.authorization)) return ofHeaders(exchange, isPublic);
    }
    const waiting = own!.catchUp();
    const identify = () =>
      passesAuthorization ? besideApplication(exchange) : ofHeaders(exchange, isPublic);
    return waiting === null ? identify() : waiting.then(identify);
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
