import { type Principal, requireScopes } from '../credentials/principal.ts';
import { Refusal } from '../errors.ts';
import type { RequestHead } from '../http/request-head.ts';
import type { Awaitable } from '../stores/awaitable.ts';

/** Identifies the caller by the credential in the head; null without one. */
export type Identify = (head: RequestHead, otherSchemesPass: boolean) => Awaitable<Principal | null>;

/**
 * The caller of a guarded endpoint, who holds all of `scopes`. Rejects with `not_authenticated`, `insufficient_scope`,
 * and as `identify` does.
 */
export async function requireCaller(
  identify: Identify,
  head: RequestHead,
  scopes: readonly string[],
): Promise<Principal> {
  const principal = await identify(head, false);
  if (principal === null) throw new Refusal('not_authenticated');
  requireScopes(principal, scopes);
  return principal;
}

/**
 * The caller of an endpoint that admits only sessions. Rejects with `not_authenticated`, `session_required`, and as
 * `identify`.
 */
export async function requireSession(identify: Identify, head: RequestHead): Promise<Principal> {
  const principal = await identify(head, false);
  if (principal === null) throw new Refusal('not_authenticated');
  if (principal.kind === 'api_key') throw new Refusal('session_required');
  return principal;
}

/**
 * The session of a valid bearer token, for sign-out: an invalid token counts as absent, because the cookie alone is enough.
 * Rejects with `session_required` for an API key.
 */
export async function sessionIfValid(identify: Identify, head: RequestHead): Promise<Principal | null> {
  try {
    const principal = await identify(head, true);
    if (principal?.kind === 'api_key') throw new Refusal('session_required');
    return principal;
  } catch (error) {
    if (error instanceof Refusal && isInvalidBearer(error, head)) return null;
    throw error;
  }
}

/** True for a bearer token that was refused; with `api_keys.bearer` it may have been refused as an API key. */
function isInvalidBearer({ code }: Refusal, { apiKeyCount }: RequestHead): boolean {
  return code === 'invalid_token' || (code === 'invalid_api_key' && apiKeyCount === 0);
}
