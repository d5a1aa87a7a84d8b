import { scopeToken } from '../rules/text-limits.ts';
import { administratorSetId, type ScopeSet } from '../stores/scope-set.ts';

const none: readonly string[] = [];

/**
 * The scopes of a space-separated text, sorted and distinct; none if it is blank. Undefined when one of them isn't a
 * scope-token (RFC 6749 §3.3). Several spaces count as one.
 */
export function parseScope(text: string): readonly string[] | undefined {
  const tokens = text.split(' ').filter((token) => token !== '');
  return tokens.every((token) => scopeToken.test(token)) ? sortedDistinct(tokens) : undefined;
}

/** The scopes in both lists, sorted and distinct. */
export function intersectScopes(asked: readonly string[], held: readonly string[]): readonly string[] {
  const heldSet = new Set(held);
  return sortedDistinct(asked.filter((scope) => heldSet.has(scope)));
}

/**
 * Combines own scopes with those of scope sets, leaving out scopes that the catalogue lacks; sorted. The built-in administrator
 * set has the whole catalogue.
 */
export function heldScopes(
  own: readonly string[],
  sets: readonly Pick<ScopeSet, 'id' | 'scopes'>[],
  catalogue: ReadonlySet<string>,
): readonly string[] {
  if (sets.some((set) => set.id === administratorSetId)) return [...catalogue].sort();
  const granted = [...own, ...sets.flatMap((set) => set.scopes)];
  return sortedDistinct(granted.filter((scope) => catalogue.has(scope)));
}

/** The scopes of a credential, checked on each of its requests. */
export class HeldScopes extends Set<string> {
  /** The last list of needed scopes that was held completely: routes pass the same few arrays again and again. */
  #whole: readonly string[] = none;

  /** The needed scopes that aren't held, in the order needed. */
  missing(needed: readonly string[]): readonly string[] {
    if (needed === this.#whole) return none;
    const missing = missingScopes(needed, this);
    if (missing.length === 0) this.#whole = needed;
    return missing;
  }
}

/** The needed scopes that aren't held, in the order needed; doesn't allocate when there are none. */
export function missingScopes(needed: readonly string[], held: ReadonlySet<string>): readonly string[] {
  for (const scope of needed) {
    if (!held.has(scope)) return needed.filter((other) => !held.has(other));
  }
  return none;
}

/** The names, sorted and distinct. */
export function sortedDistinct(names: Iterable<string>): readonly string[] {
  return [...new Set(names)].sort();
}
