/** Name and attributes of a cookie that Postern sets (RFC 6265bis §4.1). */
export interface CookieAttributes {
  readonly name: string;
  readonly path: string;
  readonly domain: string | null;
  readonly secure: boolean;
  readonly sameSite: 'lax' | 'strict' | 'none';
}

const sameSiteText = { lax: 'Lax', strict: 'Strict', none: 'None' } as const;

/** A `Set-Cookie` value, always `HttpOnly`. `maxAgeSeconds` 0 clears the cookie. */
export function setCookie(attributes: CookieAttributes, value: string, maxAgeSeconds: number): string {
  const { name, path, domain, secure, sameSite } = attributes;
  return (
    `${name}=${value}; Max-Age=${maxAgeSeconds}; Path=${path}` +
    (domain === null ? '' : `; Domain=${domain}`) +
    `; HttpOnly${secure ? '; Secure' : ''}; SameSite=${sameSiteText[sameSite]}`
  );
}

/** The name, with `__Host-` if Secure, so that no other host can set the cookie (RFC 6265bis §4.1.3.2); requires Path=/. */
export function hostOnlyName(name: string, secure: boolean): string {
  return `${secure ? '__Host-' : ''}${name.replace(/^__(?:host|secure)-/i, '')}`;
}

/** The values of all cookies with that name, neither unquoted nor decoded. */
export function cookieValues(cookieHeader: string, name: string): string[] {
  const values: string[] = [];
  for (let at = cookieHeader.indexOf(name); at >= 0; at = cookieHeader.indexOf(name, at + 1)) {
    const equals = at + name.length;
    if (cookieHeader[equals] !== '=' || !beginsPair(cookieHeader, at)) continue;
    values.push(cookieHeader.slice(equals + 1, endOf(cookieHeader, equals + 1)));
  }
  return values;
}

/** The cookies whose names begin with the prefix, each with its first value, in order of appearance. */
export function cookiesWithPrefix(cookieHeader: string, prefix: string): Map<string, string> {
  const found = new Map<string, string>();
  for (let at = cookieHeader.indexOf(prefix); at >= 0; at = cookieHeader.indexOf(prefix, at + 1)) {
    if (!beginsPair(cookieHeader, at)) continue;
    const pair = cookieHeader.slice(at, endOf(cookieHeader, at));
    const equals = pair.indexOf('=');
    const name = pair.slice(0, Math.max(0, equals));
    if (equals > 0 && !found.has(name)) found.set(name, pair.slice(equals + 1));
  }
  return found;
}

/*
 * Between pairs only spaces and tabs are skipped (RFC 6265 §5.2). To a browser a no-break space belongs to the name: if it
 * were skipped, a neighbouring host could plant a cookie of ours in spite of `__Host-`.
 */
const isBlank = (code: number) => code === 0x20 || code === 0x09;

/** True if a pair begins at index `at` of a `Cookie` value. */
function beginsPair(cookieHeader: string, at: number): boolean {
  let before = at - 1;
  while (before >= 0 && isBlank(cookieHeader.charCodeAt(before))) before--;
  return before < 0 || cookieHeader[before] === ';';
}

/** Returns the index at which the pair that contains `start` ends, without trailing blanks. */
function endOf(cookieHeader: string, start: number): number {
  const semicolon = cookieHeader.indexOf(';', start);
  let last = semicolon < 0 ? cookieHeader.length : semicolon;
  while (last > start && isBlank(cookieHeader.charCodeAt(last - 1))) last--;
  return last;
}

/** Postern's own cookies, which upstreams neither see nor set. */
export interface OwnCookies {
  readonly names: readonly string[];
  /** Prefixes of further names. */
  readonly prefixes: readonly string[];
}

/** True if a cookie of that name is Postern's own. */
export function isOwnCookie(name: string, { names, prefixes }: OwnCookies): boolean {
  return names.includes(name) || prefixes.some((prefix) => name.startsWith(prefix));
}

/**
 * A `Cookie` value without Postern's own cookies; the others are kept byte for byte. Empty if none are left. Names are
 * compared without surrounding whitespace, as browsers and lenient servers read them.
 */
export function withoutCookies(cookieHeader: string, own: OwnCookies): string {
  const mayHave = (text: string) => cookieHeader.includes(text);
  if (!own.names.some(mayHave) && !own.prefixes.some(mayHave)) return cookieHeader;
  const kept = cookieHeader.split(';').filter((pair) => !isOwnCookie(pairName(pair), own));
  if (kept.length === 0) return '';
  const text = kept.join(';').trim();
  return text.replace(/^;+\s*/, '');
}

/**
 * A `Cookie` value with a semicolon in place of each comma before one of Postern's own cookies: a proxy that wrongly joins
 * several `Cookie` lines with commas would otherwise hide Postern's cookie in the value of another.
 */
export function separatedCookies(cookieHeader: string, own: OwnCookies): string {
  const [first = '', ...parts] = cookieHeader.split(',');
  const separated = (part: string) => isOwnCookie(pairName(part.split(';', 1)[0]!), own);
  return parts.reduce((text, part) => `${text}${separated(part) ? ';' : ','}${part}`, first);
}

/** The name of the cookie that a `Set-Cookie` value sets. */
export function setCookieName(value: string): string {
  const end = value.indexOf(';');
  return pairName(end < 0 ? value : value.slice(0, end));
}

/**
 * The name of a pair, without surrounding whitespace or a leading `=`. Browsers send a nameless cookie (RFC 6265bis) as its bare
 * value; if that contains an `=`, a server may take the text before it for a name.
 */
function pairName(pair: string): string {
  const text = pair.trim();
  const start = text.startsWith('=') ? 1 : 0;
  const equals = text.indexOf('=', start);
  return text.slice(start, equals < 0 ? text.length : equals).trim();
}
