/** Headers by which caches of a provider's network are told something else than `Cache-Control` (RFC 9213). */
const targetedCaching = /^(?:[a-z-]+-)?(?:cdn-cache-control|surrogate-control)$/i;

/**
 * The headers of a response to a request that the web cookie admitted, so that no cache serves it to another browser (RFC
 * 9111 §5.2.2): `Cache-Control` is private unless it is stricter, and the response varies by cookie. Takes and returns names
 * and values in turn.
 */
export function keptPrivate(fields: readonly string[]): string[] {
  const kept: string[] = [];
  const directives: string[] = [];
  const varies: string[] = [];
  for (let i = 0; i < fields.length; i += 2) {
    const name = fields[i]!;
    const value = fields[i + 1]!;
    const lower = name.toLowerCase();
    if (lower === 'cache-control') directives.push(...listed(value));
    else if (lower === 'vary') varies.push(...listed(value));
    else if (!targetedCaching.test(name)) kept.push(name, value);
  }
  kept.push('Cache-Control', privateDirectives(directives).join(', '));
  kept.push('Vary', varyingByCookie(varies).join(', '));
  return kept;
}

function privateDirectives(directives: readonly string[]): string[] {
  const kept = directives.filter((directive) => !/^(?:public|s-maxage)(?:\s*=|$)/i.test(directive));
  // `private="Set-Cookie"` keeps only that header from shared caches.
  const isPrivate = kept.some((directive) => /^(?:private|no-store)$/i.test(directive));
  return isPrivate ? kept : ['private', ...kept];
}

function varyingByCookie(names: readonly string[]): readonly string[] {
  const has = names.some((name) => name === '*' || name.toLowerCase() === 'cookie');
  return has ? names : [...names, 'Cookie'];
}

/** The elements of a list; a comma in a quoted string separates nothing (RFC 9110 §5.6.1). */
function listed(value: string): string[] {
  return (value.match(/(?:[^,"]|"(?:[^"\\]|\\.)*"?)+/g) ?? [])
    .map((element) => element.trim())
    .filter((element) => element !== '');
}
