import type { ScopeSet } from '../stores/records.ts';
import { Failure } from './failure.ts';
import type { Workplace } from './with-stores.ts';

/** The scopes of a space-separated text, sorted and distinct; throws Failure naming those the catalogue lacks. */
export function requireScopes({ catalogue }: Workplace, text: string): readonly string[] {
  const scopes = [...new Set(text.split(/\s+/).filter((scope) => scope !== ''))].sort();
  const unknown = scopes.filter((scope) => !catalogue.has(scope));
  if (unknown.length > 0) throw new Failure('failed', `not in the catalogue of scopes: ${unknown.join(' ')}`);
  return scopes;
}

/** The scope sets of those names; throws Failure naming those that aren't there. */
export async function requireScopeSets(
  { records }: Workplace,
  names: readonly string[],
): Promise<readonly ScopeSet[]> {
  const found = await Promise.all(names.map((name) => records.findScopeSetByName(name)));
  const unknown = names.filter((_, index) => found[index] === undefined);
  if (unknown.length > 0) throw new Failure('failed', `no such scope set: ${unknown.join(', ')}`);
  return found as ScopeSet[];
}
