import { keptText } from '../http1/message/copied-text.ts';
import { type AccessClaims, type AccessTokens, isIssuedLater } from './access-token.ts';
import { PrincipalCache, type VerifiedCredential } from './principal-cache.ts';

/** The claims of a verified token, with its text. They are valid until they expire. */
export interface TokenProof extends AccessClaims {
  readonly text: string;
}

/** A verified token. Each request still checks that its session is live. */
export type VerifiedToken = VerifiedCredential<TokenProof>;

/** A cache of verified tokens, for one {@link AccessTokens}: its issuer, audience and keys. */
export interface VerifiedTokens {
  /** The cached token, unless it has expired, its key was removed, or the clock was set back to before it was issued. */
  find(token: string): VerifiedToken | undefined;
  /** Verifies a token that isn't cached; concurrent calls share one verification. Rejects as {@link AccessTokens.verify} does. */
  verify(token: string): Promise<VerifiedToken>;
  /** Counts the sessions of cached tokens that have a principal and have not expired. */
  sessions(): number;
}

/** Creates the cache; `now` returns epoch ms, `size` as for {@link PrincipalCache}. */
export function createVerifiedTokens(
  tokens: Pick<AccessTokens, 'verify' | 'accepts'>,
  { now, size }: { readonly now: () => number; readonly size?: number | undefined },
): VerifiedTokens {
  /** Tokens by signature, which is as distinctive as the whole text, at a fifth of the length to hash. */
  const verified = new PrincipalCache<TokenProof>(size);
  const underway = new Map<string, Promise<VerifiedToken>>();

  return {
    find(token) {
      const signature = signatureOf(token);
      const found = verified.get(signature);
      if (found === undefined || found.proof.text !== token) return undefined;
      const instant = now();
      // Not deleted if only its time has not come: it holds again once the clock has caught up.
      const { expires, issued, kid } = found.proof;
      if (expires > instant && tokens.accepts(kid)) return isIssuedLater(issued, instant) ? undefined : found;
      verified.delete(signature);
      return undefined;
    },
    verify(token) {
      const shared = underway.get(token);
      if (shared !== undefined) return shared;
      const verification = tokens
        .verify(token)
        .then((claims) => {
          const text = keptText(token);
          return verified.keep(signatureOf(text), { ...claims, text });
        })
        .finally(() => underway.delete(token));
      underway.set(token, verification);
      return verification;
    },
    sessions() {
      const instant = now();
      const ids = new Set<string>();
      for (const { proof, isResolved } of verified.values())
        if (isResolved && proof.expires > instant) ids.add(proof.sessionId);
      return ids.size;
    },
  };
}

/** The part after the last dot (RFC 7515 §3.1). */
function signatureOf(token: string): string {
  return token.slice(token.lastIndexOf('.') + 1);
}
