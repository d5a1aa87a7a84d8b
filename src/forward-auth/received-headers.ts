import { type HeaderRules, meaning, meaningOf } from '../http/header-names.ts';
import { cachedByName } from '../http1/message/name-cache.ts';
import { hopByHopNames, normalisedName, trailerNames } from '../rules/known-headers.ts';
import type { Mode } from './modes.ts';

/** What of a client's headers the gateway would have dropped for its meaning, and a proxy would pass on. */
export interface ReceivedHeaders {
  /** Names as received; each once for every field. */
  aliasesIn(raw: readonly string[]): readonly string[];
}

const none: readonly string[] = [];

/**
 * `answered`: names that the answer to an allowed request sets, in lower case; the proxy overwrites what a client sent by
 * exactly these names. What mode and proxy need is theirs. Hop-by-hop headers may belong to the connection of the question, so
 * none is a reason to refuse it; a proxy that removes names is told those, too, but for what gRPC needs.
 */
export function createReceivedHeaders(
  mode: Mode,
  answered: ReadonlySet<string>,
  rules: Pick<HeaderRules, 'passMethodOverride' | 'dropped'>,
): ReceivedHeaders {
  const { described, setByProxy } = mode;
  const ofProxy = new Set(setByProxy);
  if (described !== null) ofProxy.add(described.method).add(described.target);
  const dropped = new Set(rules.dropped.map(normalisedName));

  const isAlias = cachedByName((name) => {
    const lower = name.toLowerCase();
    const normalised = normalisedName(name);
    if (answered.has(lower) || ofProxy.has(lower)) return false;
    if (dropped.has(normalised)) return true;
    const what = meaningOf(name);
    // Where the proxy leaves it as it came: the gateway sets its own.
    if (what === meaning.forwardedHost) return true;
    if (what === meaning.methodOverride) return !rules.passMethodOverride;
    if (hopByHopNames.has(lower)) return mode.removesHeaders && !trailerNames.has(lower);
    return what === meaning.dropped;
  });

  return {
    aliasesIn(raw) {
      let aliases: string[] | undefined;
      for (let i = 0; i < raw.length; i += 2)
        if (isAlias(raw[i]!)) {
          aliases ??= [];
          aliases.push(raw[i]!);
        }
      return aliases ?? none;
    },
  };
}
