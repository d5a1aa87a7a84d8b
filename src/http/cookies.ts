/** How a cookie is set (RFC 6265bis §4.1). */
export interface CookieAttributes {
  readonly name: string;
  readonly path: string;
  readonly domain: string | null;
  readonly secure: boolean;
  readonly sameSite: 'lax' | 'strict' | 'none';
}

const sameSiteText = { lax: 'Lax', strict: 'Strict', none: 'None' } as const;

/** A `Set-Cookie` value, HttpOnly always. `maxAgeSeconds` 0 clears the cookie. */
export function setCookie(attributes: CookieAttributes, value: string, maxAgeSeconds: number): string {
  const { name, path, domain, secure, sameSite } = attributes;
  return (
    `${name}=${value}; Max-Age=${maxAgeSeconds}; Path=${path}` +
    (domain === null ? '' : `; Domain=${domain}`) +
    `; HttpOnly${secure ? '; Secure' : ''}; SameSite=${sameSiteText[sameSite]}`
  );
}

/** Every value of the cookies of that name, as they stand: not unquoted, not decoded. */
export function cookieValues(cookieHeader: string, name: string): string[] {
  if (!cookieHeader.includes(name)) return [];
  const values: string[] = [];
  for (const pair of cookieHeader.split(';')) {
    const text = pair.trim();
    const equals = text.indexOf('=');
    if (equals > 0 && text.slice(0, equals) === name) values.push(text.slice(equals + 1));
  }
  return values;
}

/** Every cookie whose name begins so, the first value of each, in the order they came in. */
export function cookiesWithPrefix(cookieHeader: string, prefix: string): Map<string, string> {
  const found = new Map<string, string>();
  if (!cookieHeader.includes(prefix)) return found;
  for (const pair of cookieHeader.split(';')) {
    const text = pair.trim();
    const equals = text.indexOf('=');
    const name = text.slice(0, Math.max(0, equals));
    if (name.startsWith(prefix) && !found.has(name)) found.set(name, text.slice(equals + 1));
  }
  return found;
}

/** Which cookies are Postern's own: an upstream neither sees nor sets them. */
export interface OwnCookies {
  readonly names: readonly string[];
  /** What the names of others begin with. */
  readonly prefixes: readonly string[];
}

/** Whether a cookie of that name is one of them. */
export function isOwnCookie(name: string, { names, prefixes }: OwnCookies): boolean {
  return names.includes(name) || prefixes.some((prefix) => name.startsWith(prefix));
}

/**
 * A `Cookie` value without Postern's own; the others stay byte for byte. Empty when nothing is left. Names are compared
 * as browsers and lenient servers read them, without outer blanks.
 */
export function withoutCookies(cookieHeader: string, own: OwnCookies): string {
  const mayHave = (text: string) => cookieHeader.includes(text);
  if (!own.names.some(mayHave) && !own.prefixes.some(mayHave)) return cookieHeader;
  const kept = cookieHeader.split(';').filter((pair) => !isOwnCookie(pairName(pair), own));
  const text = kept.join(';').trim();
  return text.replace(/^;+\s*/, '');
}

/** The name a `Set-Cookie` value sets. */
export function setCookieName(value: string): string {
  const end = value.indexOf(';');
  return pairName(end < 0 ? value : value.slice(0, end));
}

/**
 * The name of a pair, without outer blanks. A cookie without a name is sent by browsers as its value alone, where a
 * name may stand before another `=`: that one counts (nameless cookies of RFC 6265bis).
 */
function pairName(pair: string): string {
  const text = pair.trim();
  const start = text.startsWith('=') ? 1 : 0;
  const equals = text.indexOf('=', start);
  return text.slice(start, equals < 0 ? text.length : equals).trim();
}
