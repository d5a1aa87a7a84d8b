import type { Held } from '../credentials/holdings.ts';
import { Refusal } from '../errors.ts';
import type { CallerRights } from './caller-rights.ts';

/**
 * Refuses `insufficient_scope`, naming what is missing, unless the caller holds all of it: scopes, and the very sets, for
 * a set may grow. `needed` are the scopes that the call itself asks for. What is handed on is judged by this, and so is
 * anyone who is to be changed: a caller who could change a holder of more could become one.
 */
export function assertHolds(
  rights: CallerRights,
  { scopes, scopeSets }: Held,
  needed: readonly string[],
): void {
  if (rights.holdsEverything) return;
  const missingScopes = [...needed, ...scopes].filter((scope) => !rights.scopes.has(scope));
  const missing =
    missingScopes.length > 0 ? missingScopes : scopeSets.filter((id) => !rights.scopeSets.has(id));
  if (missing.length > 0)
    throw new Refusal('insufficient_scope', {
      missingScopes: [...new Set(missing)].sort(),
      neededScopes: [...new Set([...needed, ...scopes])].sort(),
    });
}
