import { type HeaderRules, meaning, meaningOf } from '../http/header-names.ts';
import { cachedByName } from '../http1/message/name-cache.ts';
import { hopByHopNames, normalisedName, trailerNames } from '../rules/known-headers.ts';
import type { Mode } from './modes.ts';

/** Finds headers that a proxy would forward but the gateway drops because of their meaning; returns their names as received. */
export type AliasesIn = (raw: readonly string[]) => readonly string[];

const none: readonly string[] = [];

/**
 * Creates an {@link AliasesIn}. It skips the headers that the proxy sets, and those in `answered`: names, in lower case, of the
 * answer's headers, with which the proxy overwrites a client's. It also skips hop-by-hop headers, which may be of the question's
 * own connection; but for a proxy that removes headers it finds them, too, except those that gRPC needs. `readsHost`: the header
 * with the host of the request is read, and is the proxy's.
 */
export function createAliasesIn(
  mode: Mode,
  answered: ReadonlySet<string>,
  rules: Pick<HeaderRules, 'passMethodOverride' | 'dropped' | 'passed'>,
  readsHost = false,
): AliasesIn {
  const { described, setByProxy } = mode;
  const ofProxy = new Set(setByProxy);
  if (described !== null) {
    ofProxy.add(described.method).add(described.target);
    if (readsHost) ofProxy.add(described.host);
  }
  const dropped = new Set(rules.dropped.map(normalisedName));
  const passed = new Set(rules.passed?.map((name) => name.toLowerCase()));

  const isAlias = cachedByName((name) => {
    const lower = name.toLowerCase();
    const normalised = normalisedName(name);
    if (answered.has(lower) || ofProxy.has(lower)) return false;
    if (dropped.has(normalised)) return true;
    if (passed.has(lower)) return false;
    const what = meaningOf(name);
    // The proxy leaves the client's header unchanged, whereas the gateway would set its own.
    if (what === meaning['x-forwarded-host']) return true;
    if (what === meaning.methodOverride) return !rules.passMethodOverride;
    if (hopByHopNames.has(lower)) return mode.removesHeaders && !trailerNames.has(lower);
    return what === meaning.dropped;
  });

  return (raw) => {
    let aliases: string[] | undefined;
    for (let i = 0; i < raw.length; i += 2)
      if (isAlias(raw[i]!)) {
        aliases ??= [];
        aliases.push(raw[i]!);
      }
    return aliases ?? none;
  };
}
