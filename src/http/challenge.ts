import type { Refusal } from '../errors.ts';
import { isNavigation } from './navigation.ts';
import type { RequestHead } from './request-head.ts';

/** The schemes that the 401 of a route names: Bearer, Basic, or both. */
export type Challenge = 'bearer' | 'basic' | 'both';

/** The schemes that a refusal of a request names: for Basic a browser would open a dialogue, and keep what is typed there. */
export function challengeFor(request: {
  readonly challenge: Challenge;
  readonly head: Pick<RequestHead, 'secFetchSite' | 'secFetchMode' | 'secFetchDest' | 'accept'>;
}): Challenge {
  const { challenge, head } = request;
  if (challenge === 'bearer' || head.secFetchSite !== '' || isNavigation(head)) return 'bearer';
  return challenge;
}

/** The values of `WWW-Authenticate` (RFC 6750 §3, RFC 7617 §2), Bearer first; empty if the refusal needs none. */
export function challengesOf(error: Refusal, realm: string, challenge: Challenge): readonly string[] {
  const bearer = bearerChallenge(error, realm);
  if (bearer === null) return [];
  if (challenge === 'bearer') return [bearer];
  const basic = error.status === 401 ? [`Basic realm="${realm}", charset="UTF-8"`] : [];
  // Clients of registries take the realm of a Bearer challenge for an address.
  return challenge === 'basic' ? basic : [bearer, ...basic];
}

function bearerChallenge({ code, status, options }: Refusal, realm: string): string | null {
  const base = `Bearer realm="${realm}"`;
  switch (code) {
    case 'invalid_token':
    case 'invalid_api_key':
      return `${base}, error="invalid_token"`;
    case 'ambiguous_credentials':
      return `${base}, error="invalid_request"`;
    case 'insufficient_scope':
      return `${base}, error="insufficient_scope", scope="${(options.neededScopes ?? []).join(' ')}"`;
    default:
      return status === 401 ? base : null;
  }
}
