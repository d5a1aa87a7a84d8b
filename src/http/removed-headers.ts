import { cachedByName } from '../http1/message/name-cache.ts';
import { hopByHopNames, identityPrefix, mountPointNames, normalisedName } from '../rules/known-headers.ts';
import { meaning, type PassedMeaning } from './header-names.ts';
import type { RequestHead } from './request-head.ts';

/** Kinds of removed headers that the log counts: clients choose names, but not kinds. */
export const removedKinds = ['Authorization', 'X-API-Key', 'odd names', 'X-Auth-', 'mount points'] as const;

/** Headers of a request that its upstream didn't get, apart from those of the connection and the credential that was judged. */
export interface RemovedHeaders {
  /** The kinds, as bits in the order of {@link removedKinds}; 0 if there are only others. */
  readonly kinds: number;
  /** The names as received, at most 16, each shortened to 64 characters. */
  readonly names: readonly string[];
}

const maxNames = 16;
const maxNameLength = 64;

const bitOf = (kind: (typeof removedKinds)[number]) => 1 << removedKinds.indexOf(kind);
const noKind = 0;
/** Stands for a header of the connection, which no proxy passes on. */
const ofConnection = -1;

const kindOf = cachedByName((name) => {
  const lower = name.toLowerCase();
  const normalised = normalisedName(name);
  if (lower === 'authorization') return bitOf('Authorization');
  if (lower === 'x-api-key') return bitOf('X-API-Key');
  if (hopByHopNames.has(lower)) return ofConnection;
  if (normalised.startsWith(identityPrefix)) return bitOf('X-Auth-');
  if (mountPointNames.has(normalised)) return bitOf('mount points');
  return lower === normalised ? noKind : bitOf('odd names');
});

/** The {@link RemovedHeaders} with these names, as received; null if there are none. */
export function removedHeaders(names: readonly string[]): RemovedHeaders | null {
  let kinds = 0;
  const kept: string[] = [];
  for (const name of names) {
    const kind = kindOf(name);
    if (kind === ofConnection) continue;
    kinds |= kind;
    if (kept.length < maxNames) kept.push(name.slice(0, maxNameLength));
  }
  return kept.length === 0 ? null : { kinds, names: kept };
}

/**
 * Returns the headers that are removed from a request. `isExplained`: a credential was judged, which explains why the headers of
 * credentials are gone, or they pass.
 */
export function findRemoved(
  { raw, connectionNames }: RequestHead,
  passedMeaning: PassedMeaning,
  isExplained: boolean,
): RemovedHeaders | null {
  const names: string[] = [];
  for (let i = 0; i < raw.length; i += 2) {
    const name = raw[i]!;
    switch (passedMeaning(name)) {
      case meaning.dropped:
        names.push(name);
        break;
      case meaning.authorization:
      case meaning['x-api-key']:
        if (!isExplained) names.push(name);
        break;
      case meaning.plain:
        if (connectionNames?.has(normalisedName(name)) === true) names.push(name);
        break;
    }
  }
  return removedHeaders(names);
}
