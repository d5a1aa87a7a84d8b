import { keptText } from './copied-text.ts';

/** Matches a token (RFC 9110 §5.6.2). */
export const token = /^[!#$%&'*+.^_`|~0-9A-Za-z-]+$/;

/** Maximum number of cached spellings: clients send a few dozen, an attacker any number. */
const maxSpellings = 4096;
/** Maximum length of a cached name. */
const maxNameLength = 64;

/** Spellings of field names, each as its own key. */
const fieldNames = new Map<string, string>();

/**
 * Returns one string object for all occurrences of a cached spelling of a field name (RFC 9110 §5.1), otherwise `text` itself;
 * undefined if it isn't a field name. Maps compare identical objects at once, but others character by character.
 */
export function fieldNameOf(text: string): string | undefined {
  const known = fieldNames.get(text);
  if (known !== undefined) return known;
  if (!token.test(text)) return undefined;
  if (fieldNames.size >= maxSpellings || text.length > maxNameLength) return text;
  const name = keptText(text);
  fieldNames.set(name, name);
  return name;
}

/**
 * Caches a pure function of a field name by spelling: each further field with that spelling costs one map look-up. Spellings
 * beyond the first 4,096, and names of more than 64 characters, are computed each time.
 */
export function cachedByName<Result>(compute: (name: string) => Result): (name: string) => Result {
  const results = new Map<string, Result>();
  return (name) => {
    const cached = results.get(name);
    if (cached !== undefined) return cached;
    const result = compute(name);
    if (results.size < maxSpellings && name.length <= maxNameLength)
      results.set(fieldNames.get(name) ?? keptText(name), result);
    return result;
  };
}
