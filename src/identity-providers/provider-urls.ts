import { hash } from 'node:crypto';
import type { IdentityProviderConfig } from '../config/sections/schema.ts';
import type { SignInStart } from './sign-in-start.ts';

/** A provider's configuration in which `redirect_uri`, the page to which the provider returns the browser, is always set. */
export type ProviderSettings = IdentityProviderConfig & { readonly redirect_uri: string };

/**
 * The URL of the authorization request (OpenID Connect Core §3.1.2.1, §3.2.2.1). The start's ticket goes into the parameter that
 * the response returns: `nonce` with `id_token`, `state` with `code`, which also uses PKCE (S256, RFC 7636). `endpoint` may have
 * a query.
 */
export function authorizationUrl({
  endpoint,
  settings: { client_id, redirect_uri, response, scopes, parameters },
  start,
}: {
  readonly endpoint: string;
  readonly settings: Pick<
    ProviderSettings,
    'client_id' | 'redirect_uri' | 'response' | 'scopes' | 'parameters'
  >;
  readonly start: Pick<SignInStart, 'ticket' | 'companion' | 'codeVerifier'>;
}): string {
  const isCode = response === 'code';
  return urlWith(endpoint, {
    ...parameters,
    client_id,
    redirect_uri,
    response_type: response,
    scope: scopes.join(' '),
    state: isCode ? start.ticket : start.companion,
    nonce: isCode ? start.companion : start.ticket,
    ...(isCode && {
      code_challenge: hash('sha256', start.codeVerifier, 'base64url'),
      code_challenge_method: 'S256',
    }),
  });
}

/** Parameters of a sign-out at the provider. */
export interface EndSessionParameters {
  /** ID token of the session; undefined: the provider identifies the user itself, or asks. */
  readonly idToken: string | undefined;
  /** URL that the provider leads the browser back to. */
  readonly redirectUri: string;
  readonly state: string;
}

/** The URL at which a browser signs out at the provider (RP-Initiated Logout §2); `endpoint` may have a query. */
export function endSessionUrl(
  endpoint: string,
  client_id: string,
  { idToken, redirectUri, state }: EndSessionParameters,
): string {
  const hint = idToken !== undefined && { id_token_hint: idToken };
  return urlWith(endpoint, { ...hint, client_id, post_logout_redirect_uri: redirectUri, state });
}

function urlWith(endpoint: string, query: Readonly<Record<string, string>>): string {
  const url = new URL(endpoint);
  for (const [name, value] of Object.entries(query)) url.searchParams.set(name, value);
  return url.href;
}
