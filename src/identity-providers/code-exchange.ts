import * as oauth from 'oauth4webapi';
import { Refusal } from '../errors.ts';
import type { CachedDocument } from './cached-document.ts';
import type { ProviderMetadata } from './discovery.ts';
import { refusal } from './id-token.ts';
import { parseJsonObject } from './json-object.ts';
import { type ProviderCall, type ProviderNetwork, ProviderUnavailable } from './provider-network.ts';
import type { ProviderSettings } from './provider-urls.ts';
import type { SignInStart } from './sign-in-start.ts';

/**
 * Exchanges an authorization code for the provider's ID token; the rest of the response is discarded. The caller validates the ID
 * token like one that came through the browser. Rejects with {@link Refusal} `invalid_assertion` if the provider refuses the
 * code, {@link ProviderUnavailable} if it can't be reached or refuses us, `overloaded` if too many codes are waiting.
 */
export type CodeExchange = (code: string, start: SignInStart) => Promise<string>;

/** Maximum number of requests that wait for a slow provider: anyone can begin a sign-in and send codes. */
const maxWaiting = 64;
/** Errors about the gateway's registration or the provider's state, not about the code. */
const notAboutTheCode = ['invalid_client', 'unauthorized_client', 'server_error', 'temporarily_unavailable'];

/** Creates the exchange of one provider (RFC 6749 §4.1.3, with PKCE; OpenID Connect Core §3.1.3). */
export function createCodeExchange({
  settings: { issuer, client_id, client_secret, redirect_uri },
  discovery,
  network,
}: {
  readonly settings: Pick<ProviderSettings, 'issuer' | 'client_id' | 'client_secret' | 'redirect_uri'>;
  readonly discovery: Pick<CachedDocument<ProviderMetadata>, 'get'>;
  readonly network: Pick<ProviderNetwork, 'fetch'>;
}): CodeExchange {
  const client: oauth.Client = { client_id };
  const requestOptions = {
    [oauth.customFetch]: (url: string, call: ProviderCall) => network.fetch(url, call),
    // Discovery has already checked the endpoints: http only where the issuer is http.
    [oauth.allowInsecureRequests]: issuer.startsWith('http:'),
  };
  let waiting = 0;

  async function redeem(code: string, start: SignInStart): Promise<string> {
    const provider = await discovery.get();
    const response = await oauth.genericTokenEndpointRequest(
      provider,
      client,
      clientAuthentication(client_secret, provider),
      'authorization_code',
      { code, redirect_uri, code_verifier: start.codeVerifier },
      requestOptions,
    );
    if (response.status !== 200) {
      await oauth.processGenericTokenEndpointResponse(provider, client, response);
      throw new ProviderUnavailable(`token endpoint: status ${response.status}`);
    }
    return idTokenOf(await response.bytes());
  }

  return async (code, start) => {
    if (waiting >= maxWaiting) throw new Refusal('overloaded');
    waiting += 1;
    try {
      return await redeem(code, start);
    } catch (error) {
      throw refusalFor(error);
    } finally {
      waiting -= 1;
    }
  };
}

/** The client authentication named by discovery; default: `client_secret_basic` (Discovery §3). */
function clientAuthentication(secret: string | undefined, provider: ProviderMetadata): oauth.ClientAuth {
  if (secret === undefined) return oauth.None();
  const methods = provider.token_endpoint_auth_methods_supported ?? ['client_secret_basic'];
  return methods.includes('client_secret_post') && !methods.includes('client_secret_basic')
    ? oauth.ClientSecretPost(secret)
    : oauth.ClientSecretBasic(secret);
}

/** The ID token of a response (OpenID Connect Core §3.1.3.3). Throws a refusal: 401 if it isn't a string, 503 if missing. */
function idTokenOf(bytes: Uint8Array): string {
  const tokens = parseJsonObject(bytes);
  if (tokens === undefined) throw new ProviderUnavailable('token endpoint: not a JSON object');
  const { id_token: idToken } = tokens;
  if (idToken === undefined) throw new ProviderUnavailable('token endpoint: no ID token');
  if (typeof idToken !== 'string') throw refusal('token endpoint: ID token is not a string');
  return idToken;
}

/** The refusal for an error, with its code only: the library's errors carry responses, which may contain tokens. */
function refusalFor(error: unknown): unknown {
  if (error instanceof Refusal) return error;
  if (error instanceof oauth.ResponseBodyError) {
    const cause = `token endpoint: ${error.error.slice(0, 64)}`;
    return notAboutTheCode.includes(error.error) ? new ProviderUnavailable(cause) : refusal(cause);
  }
  if (error instanceof oauth.WWWAuthenticateChallengeError)
    return new ProviderUnavailable('token endpoint: client credentials refused');
  if (error instanceof oauth.OperationProcessingError || error instanceof oauth.UnsupportedOperationError)
    return new ProviderUnavailable(`token endpoint: ${error.code}`);
  return error;
}
