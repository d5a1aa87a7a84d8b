import { LRUCache } from 'lru-cache';
import { keptText } from '../http1/copied-text.ts';
import type { AccessClaims, AccessTokens } from './access-token.ts';

/**
 * A token that was verified, with room for whom it turned out to name. The claims hold until they expire; the principal
 * holds for one version of the records, and whether the session lives is asked on every request.
 */
export class Remembered<P> {
  readonly text: string;
  readonly claims: AccessClaims;
  /** Who that is, set by whoever resolved it. */
  principal: P | undefined = undefined;
  /** The `Records.version()` that `principal` was resolved at. */
  recordsVersion: number | undefined = undefined;

  constructor(text: string, claims: AccessClaims) {
    this.text = text;
    this.claims = claims;
  }
}

/** Verified tokens. One memory serves one {@link AccessTokens}: its issuer, audience and keys. */
export interface VerifiedTokens<P> {
  /** What is remembered of the token and has not expired. */
  find(token: string): Remembered<P> | undefined;
  /** Verifies a token that `find` does not know; parallel calls share one verification. Refuses `invalid_token`. */
  verify(token: string): Promise<Remembered<P>>;
  /** How many sessions those are of that were found to name somebody and have not expired. */
  sessions(): number;
}

/** Creates the memory; `now` gives epoch ms, `max` bounds the tokens remembered (default 10,000). */
export function createVerifiedTokens<P>(
  tokens: Pick<AccessTokens, 'verify'>,
  options: { readonly now: () => number; readonly max?: number },
): VerifiedTokens<P> {
  /** By their signature: it is as good as the whole text, and a fifth as long to hash. */
  const remembered = new LRUCache<string, Remembered<P>>({ max: options.max ?? 10_000 });
  const underway = new Map<string, Promise<Remembered<P>>>();

  function find(token: string): Remembered<P> | undefined {
    const signature = signatureOf(token);
    const entry = remembered.get(signature);
    if (entry === undefined || entry.text !== token) return undefined;
    if (entry.claims.expires > options.now()) return entry;
    remembered.delete(signature);
    return undefined;
  }

  function verify(token: string): Promise<Remembered<P>> {
    const shared = underway.get(token);
    if (shared !== undefined) return shared;
    const verification = tokens
      .verify(token)
      .then((claims) => {
        // Only a success is remembered: made-up tokens must not push out real ones.
        const entry = new Remembered<P>(keptText(token), claims);
        remembered.set(signatureOf(entry.text), entry);
        return entry;
      })
      .finally(() => underway.delete(token));
    underway.set(token, verification);
    return verification;
  }

  function sessions(): number {
    const now = options.now();
    const ids = new Set<string>();
    for (const { claims, principal } of remembered.values())
      if (principal !== undefined && claims.expires > now) ids.add(claims.sessionId);
    return ids.size;
  }

  return { find, verify, sessions };
}

/** What stands behind the last dot (RFC 7515 §3.1). */
function signatureOf(token: string): string {
  return token.slice(token.lastIndexOf('.') + 1);
}
