import type { Refusal } from '../errors.ts';
import { isNavigation } from './navigation.ts';
import type { RequestHead } from './request-head.ts';

/** The schemes that the 401 of a route names: Bearer, Basic, or both. */
export type Challenge = 'bearer' | 'basic' | 'both';

/** The parts of a request that decide which schemes its refusal names. */
interface ChallengedRequest {
  readonly challenge: Challenge;
  readonly method: string;
  readonly head: Pick<RequestHead, 'secFetchSite' | 'secFetchMode' | 'secFetchDest' | 'accept'>;
}

/** The schemes that a refusal of a request names: for Basic a browser would open a dialogue, and keep what is typed there. */
export function challengeFor(request: ChallengedRequest): Challenge {
  const { challenge, head } = request;
  if (challenge === 'bearer' || isOfPage(request) || isNavigation(head)) return 'bearer';
  return challenge;
}

/** Methods that a page can have a browser send in the mode `no-cors` (Fetch §2.2.1, "CORS-safelisted method"). */
const pageMethods: ReadonlySet<string> = new Set(['GET', 'HEAD', 'POST']);

/**
 * True if a page may have had a browser send the request. Thunderbird's calendar, which sends Basic only once it was offered, has
 * Fetch metadata, too: the mode `no-cors` with PROPFIND and other methods that no page can send so.
 */
function isOfPage({ method, head }: ChallengedRequest): boolean {
  return head.secFetchSite !== '' && (head.secFetchMode !== 'no-cors' || pageMethods.has(method));
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
