import { keptText } from '../http1/message/copied-text.ts';
import { RecentCache } from '../stores/recent-cache.ts';
import { type AccessClaims, type AccessTokens, isIssuedLater } from './access-token.ts';

/**
 * A verified token, with a slot for its principal. The claims are valid until they expire, the principal for one
 * version of the records; whether the session is live is checked on every request.
 */
export class Remembered<P> {
  readonly text: string;
  readonly claims: AccessClaims;
  /** Set by the code that resolves it. */
  principal: P | undefined = undefined;
  /** The `Records.version()` that `principal` was resolved at. */
  recordsVersion: number | undefined = undefined;

  constructor(text: string, claims: AccessClaims) {
    this.text = text;
    this.claims = claims;
  }
}

/** A cache of verified tokens, for one {@link AccessTokens}: its issuer, audience and keys. */
export interface VerifiedTokens<P> {
  /** The cached token, unless it has expired, its key was removed, or the clock was set back to before it was issued. */
  find(token: string): Remembered<P> | undefined;
  /** Verifies a token that isn't cached; concurrent calls share one verification. Rejects with `invalid_token`. */
  verify(token: string): Promise<Remembered<P>>;
  /** How many sessions have a cached token with a principal that has not expired. */
  sessions(): number;
}

/** Creates the cache; `now` returns epoch ms, `size` says how many tokens stay cached for certain (default 10,000), at most twice as many. */
export function createVerifiedTokens<P>(
  tokens: Pick<AccessTokens, 'verify' | 'accepts'>,
  options: { readonly now: () => number; readonly size?: number },
): VerifiedTokens<P> {
  /** By signature: as distinctive as the whole text, at a fifth of the length to hash. */
  const remembered = new RecentCache<Remembered<P>>(options.size ?? 10_000);
  const underway = new Map<string, Promise<Remembered<P>>>();

  function find(token: string): Remembered<P> | undefined {
    const signature = signatureOf(token);
    const entry = remembered.get(signature);
    if (entry === undefined || entry.text !== token) return undefined;
    const now = options.now();
    // Not deleted if only its time has not come: it holds again once the clock has caught up.
    const { expires, issued, kid } = entry.claims;
    if (expires > now && tokens.accepts(kid)) return isIssuedLater(issued, now) ? undefined : entry;
    remembered.delete(signature);
    return undefined;
  }

  function verify(token: string): Promise<Remembered<P>> {
    const shared = underway.get(token);
    if (shared !== undefined) return shared;
    const verification = tokens
      .verify(token)
      .then((claims) => {
        // Only successes are cached: made-up tokens must not evict real ones.
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

/** The part after the last dot (RFC 7515 §3.1). */
function signatureOf(token: string): string {
  return token.slice(token.lastIndexOf('.') + 1);
}
