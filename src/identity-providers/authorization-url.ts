import { createHash } from 'node:crypto';
import type { IdentityProviderConfig } from '../config/sections/schema.ts';
import type { SignInStart } from './sign-in-start.ts';

/** A provider's configuration, with the page that this use returns to. */
export type ProviderSettings = IdentityProviderConfig & { readonly redirect_uri: string };

/** Parts of the URL. */
export interface AuthorizationRequest {
  /** `authorization_endpoint` of discovery; it may have a query. */
  readonly endpoint: string;
  readonly settings: Pick<
    ProviderSettings,
    'client_id' | 'redirect_uri' | 'response' | 'scopes' | 'parameters'
  >;
  readonly start: Pick<SignInStart, 'ticket' | 'companion' | 'codeVerifier'>;
}

/**
 * The URL of the authorization request (OpenID Connect Core §3.1.2.1, §3.2.2.1). The parameter that the response returns carries
 * the start's ticket: `nonce` with `id_token`, `state` with `code`, which also uses PKCE (S256, RFC 7636).
 */
export function authorizationUrl({ endpoint, settings, start }: AuthorizationRequest): string {
  const { client_id, redirect_uri, response, scopes, parameters } = settings;
  const isCode = response === 'code';
  const url = new URL(endpoint);
  const query = {
    ...parameters,
    client_id,
    redirect_uri,
    response_type: response,
    scope: scopes.join(' '),
    state: isCode ? start.ticket : start.companion,
    nonce: isCode ? start.companion : start.ticket,
    ...(isCode && { code_challenge: challengeOf(start.codeVerifier), code_challenge_method: 'S256' }),
  };
  for (const [name, value] of Object.entries(query)) url.searchParams.set(name, value);
  return url.href;
}

function challengeOf(verifier: string): string {
  return createHash('sha256').update(verifier).digest('base64url');
}
