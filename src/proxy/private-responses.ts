import { cachedByName } from '../http1/message/name-cache.ts';

/** Headers by which caches of a provider's network are told something else than `Cache-Control` (RFC 9213). */
export const targetedCaching = /^(?:[a-z-]+-)?(?:cdn-cache-control|surrogate-control)$/i;

const kind = { plain: 0, cacheControl: 1, vary: 2, dropped: 3 } as const;

const kindOf = cachedByName((name) => {
  const lower = name.toLowerCase();
  if (lower === 'cache-control') return kind.cacheControl;
  if (lower === 'vary') return kind.vary;
  return targetedCaching.test(name) ? kind.dropped : kind.plain;
});

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
    switch (kindOf(name)) {
      case kind.cacheControl:
        directives.push(value);
        break;
      case kind.vary:
        varies.push(value);
        break;
      case kind.plain:
        kept.push(name, value);
    }
  }
  kept.push('Cache-Control', privateValue(directives.join(', ')));
  kept.push('Vary', varies.length === 0 ? 'Cookie' : varyingByCookie(varies));
  return kept;
}

/** A `Cache-Control` that keeps responses from shared caches: private unless it is stricter. Services send few different ones. */
export const privateValue = cachedByName((value) => {
  const kept = listed(value).filter((directive) => !/^(?:public|s-maxage)(?:\s*=|$)/i.test(directive));
  // `private="Set-Cookie"` keeps only that header from shared caches.
  const isPrivate = kept.some((directive) => /^(?:private|no-store)$/i.test(directive));
  return (isPrivate ? kept : ['private', ...kept]).join(', ');
});

function varyingByCookie(values: readonly string[]): string {
  const names = values.flatMap(listed);
  const has = names.some((name) => name === '*' || name.toLowerCase() === 'cookie');
  return (has ? names : [...names, 'Cookie']).join(', ');
}

/** The elements of a list; a comma in a quoted string separates nothing (RFC 9110 §5.6.1). */
function listed(value: string): string[] {
  return (value.match(/(?:[^,"]|"(?:[^"\\]|\\.)*"?)+/g) ?? [])
    .map((element) => element.trim())
    .filter((element) => element !== '');
}
