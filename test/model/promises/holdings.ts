import type { ModelledKey, ModelledSession, ModelledToken, ModelledUser, Records } from './records.ts';
import type { Instant } from './register.ts';

/** Beyond so many combinations of what may be held, nothing is judged. */
const tooMany = 300;

/** Scopes as a header has them: sorted, one space between. */
export function written(scopes: Iterable<string>): string {
  return [...new Set(scopes)].toSorted().join(' ');
}

/** What the sets of those ids may give together at some instant of that time; undefined: too much to say. */
function ofSets(records: Records, ids: readonly string[], from: Instant, to: Instant) {
  let combinations: string[][] = [[]];
  for (const id of ids) {
    const possible = records.sets.get(id)?.scopes.possible(from, to) ?? [];
    combinations = combinations.flatMap((held) => possible.map((scopes) => [...held, ...scopes]));
    if (combinations.length > tooMany) return undefined;
  }
  return combinations;
}

/** Everything that a user may effectively hold at some instant of that time; undefined: too much to say. */
export function possibleHoldings(
  records: Records,
  user: ModelledUser,
  from: Instant,
  to: Instant,
): Set<string>[] | undefined {
  const holdings = new Map<string, Set<string>>();
  for (const sets of user.sets.possible(from, to)) {
    const given = ofSets(records, sets, from, to);
    if (given === undefined) return undefined;
    for (const own of user.scopes.possible(from, to))
      for (const scopes of given) {
        const all = new Set([...own, ...scopes]);
        holdings.set(written(all), all);
      }
    if (holdings.size > tooMany) return undefined;
  }
  return [...holdings.values()];
}

/**
 * The scopes with which a token may go upstream: of a session that asked for scopes those that it carries, of any other all
 * that its user holds. Undefined: too much to say.
 */
export function possibleTokenScopes(
  records: Records,
  { user, requested }: Pick<ModelledSession, 'user' | 'requested'>,
  token: Pick<ModelledToken, 'scopes'>,
  from: Instant,
  to: Instant,
): Set<string> | undefined {
  return possibleGrants(records, user, requested === null ? null : token.scopes, from, to);
}

/** The scopes that a new token may carry; undefined: too much to say. */
export function possibleGrants(
  records: Records,
  user: ModelledUser,
  requested: readonly string[] | null,
  from: Instant,
  to: Instant,
): Set<string> | undefined {
  const holdings = possibleHoldings(records, user, from, to);
  return (
    holdings &&
    new Set(holdings.map((held) => written(requested?.filter((scope) => held.has(scope)) ?? held)))
  );
}

/** The scopes with which a key may go upstream; undefined: too much to say. */
export function possibleKeyScopes(
  records: Records,
  key: ModelledKey,
  from: Instant,
  to: Instant,
): Set<string> | undefined {
  const given = ofSets(records, key.sets, from, to);
  if (given === undefined) return undefined;
  const possible = new Set<string>();
  for (const owner of key.owner.possible(from, to)) {
    const holdings = possibleHoldings(records, owner, from, to);
    if (holdings === undefined || holdings.length * given.length > tooMany) return undefined;
    for (const held of holdings)
      for (const scopes of given)
        possible.add(written([...key.scopes, ...scopes].filter((scope) => held.has(scope))));
  }
  return possible;
}
