import type { Held } from '../credentials/holdings.ts';
import { Refusal } from '../errors.ts';
import type { CallerRights } from './caller-rights.ts';

/** What is to be handed on or held. */
export interface Wanted extends Held {
  /** The scopes that the sets give, where `scopes` doesn't include them: they are named for a set that is missing. */
  readonly setScopes?: readonly string[];
}

/**
 * Refuses `insufficient_scope`, naming the scopes that are missing, unless the caller holds all of it: scopes, and the very
 * sets, for a set may grow. `needed` are the scopes that the call itself asks for. What is handed on is judged by this, and
 * so is anyone who is to be changed: a caller who could change a holder of more could become one.
 */
export function assertHolds(
  rights: CallerRights,
  { scopes, scopeSets, setScopes = scopes }: Wanted,
  needed: readonly string[],
): void {
  if (rights.holdsEverything) return;
  const wanted = [...needed, ...scopes];
  const missing = missingOf(wanted, rights);
  const holdsSets = scopeSets.every((id) => rights.scopeSets.has(id));
  if (missing.length === 0 && holdsSets) return;
  // Who holds each scope of a set, but not the set, is told its scopes: the name of a set is nobody's business.
  const named = [missing, missingOf(setScopes, rights), setScopes, wanted].find((names) => names.length > 0);
  throw new Refusal('insufficient_scope', {
    missingScopes: sortedDistinct(named ?? []),
    neededScopes: sortedDistinct(wanted),
  });
}

function missingOf(scopes: readonly string[], rights: CallerRights): readonly string[] {
  return scopes.filter((scope) => !rights.scopes.has(scope));
}

function sortedDistinct(names: readonly string[]): readonly string[] {
  return [...new Set(names)].sort();
}
