import type { Held } from '../credentials/holdings.ts';
import { missingScopes, sortedDistinct } from '../credentials/scopes.ts';
import { Refusal } from '../errors.ts';
import type { CallerRights } from './caller-rights.ts';

/** Rights that a call grants, or that the user to be changed holds. */
export interface Wanted extends Held {
  /** The scopes of the sets, if `scopes` doesn't include them; a refusal names them in place of a missing set. */
  readonly setScopes?: readonly string[];
}

/**
 * Refuses `insufficient_scope`, naming the missing scopes, unless the caller holds every wanted scope and the wanted sets
 * themselves, because a set may grow. `needed` are the scopes that the call itself requires. Applies to granted rights, and to
 * the rights of a user who is to be changed: a caller who could change a holder of more could become one.
 */
export function assertHolds(
  rights: CallerRights,
  { scopes, scopeSets, setScopes = scopes }: Wanted,
  needed: readonly string[],
): void {
  if (rights.holdsEverything) return;
  const wanted = [...needed, ...scopes];
  const missing = missingScopes(wanted, rights.scopes);
  const holdsSets = scopeSets.every((id) => rights.scopeSets.has(id));
  if (missing.length === 0 && holdsSets) return;
  // A caller who holds each scope of a set, but not the set, is told the scopes: the name of a set stays private.
  const named = [missing, missingScopes(setScopes, rights.scopes), setScopes, wanted].find(
    (names) => names.length > 0,
  );
  throw new Refusal('insufficient_scope', {
    missingScopes: sortedDistinct(named ?? []),
    neededScopes: sortedDistinct(wanted),
  });
}
