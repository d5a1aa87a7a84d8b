import type { ClaimValue } from '../rules/kept-claims.ts';
import { pointerOfClaim } from '../rules/kept-claims.ts';
import type { LiveSession } from '../stores/sessions.ts';
import type { ClaimSeals } from './session-seals.ts';

/** Claims of a caller by their names in `keep`. */
export type Claims = ReadonlyMap<string, ClaimValue>;

/** The claims of a caller without any. */
export const noClaims: Claims = new Map();

/**
 * Returns the claims that a session keeps, as far as the provider with which it began (by name and issuer), the name and the
 * claim are configured now.
 */
export type ClaimsOf = (session: LiveSession) => Claims;

/** Creates the reader of kept claims. They are opened once for each session that a store has cached. */
export function createClaimsOf(
  providers: Readonly<
    Record<string, { readonly issuer: string; readonly keep: Readonly<Record<string, string>> }>
  >,
  seals: Pick<ClaimSeals, 'open'>,
): ClaimsOf {
  const configured = new Map(
    Object.entries(providers).map(([name, { issuer, keep }]) => [
      name,
      {
        issuer,
        pointers: new Map(Object.entries(keep).map(([kept, claim]) => [kept, pointerOfClaim(claim)])),
      },
    ]),
  );
  const opened = new WeakMap<LiveSession, Claims>();

  function open({ id, origin, sealedClaims }: LiveSession): Claims {
    const provider = origin && configured.get(origin.provider);
    if (!provider || provider.issuer !== origin.issuer || sealedClaims === null) return noClaims;
    const kept = seals.open(id, sealedClaims) ?? [];
    const counting = kept.filter(({ name, pointer }) => provider.pointers.get(name) === pointer);
    return new Map(counting.map(({ name, value }) => [name, value]));
  }

  return (session) => {
    if (session.sealedClaims === null) return noClaims;
    let claims = opened.get(session);
    if (claims === undefined) {
      claims = open(session);
      opened.set(session, claims);
    }
    return claims;
  };
}
