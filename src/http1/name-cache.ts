import { keptText } from './copied-text.ts';

/** Clients send a few dozen spellings of field names, an attacker any number of them: no more are kept. */
const maxSpellings = 4096;
/** A longer name is judged every time. */
const maxNameLength = 64;

/**
 * A pure function of a field name, computed once per spelling: for each further field of that name the request path
 * pays for one map look-up. Spellings beyond the first 4,096 are computed each time.
 */
export function cachedByName<Result>(compute: (name: string) => Result): (name: string) => Result {
  const results = new Map<string, Result>();
  return (name) => {
    const cached = results.get(name);
    if (cached !== undefined) return cached;
    const result = compute(name);
    if (results.size < maxSpellings && name.length <= maxNameLength) results.set(keptText(name), result);
    return result;
  };
}
