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
  clientId: string,
  { idToken, redirectUri, state }: EndSessionParameters,
): string {
  const url = new URL(endpoint);
  const query = {
    id_token_hint: idToken,
    client_id: clientId,
    post_logout_redirect_uri: redirectUri,
    state,
  };
  for (const [name, value] of Object.entries(query))
    if (value !== undefined) url.searchParams.set(name, value);
  return url.href;
}
