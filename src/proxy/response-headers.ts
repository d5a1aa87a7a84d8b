import type { Principal } from '../credentials/principal.ts';
import { isOwnCookie, type OwnCookies, setCookieName } from '../http/cookies.ts';
import type { Exchange } from '../http/exchange.ts';
import { hopByHopOfResponses } from '../http/header-names.ts';
import { hstsFields } from '../http/hsts.ts';
import { cachedByName } from '../http1/message/name-cache.ts';
import { normalisedName } from '../rules/known-headers.ts';

/** A credential as shared caches see it: they know it in `Authorization` (RFC 9111 §3.5), but not in `X-API-Key`. */
export type SeenCredential = 'none' | 'known' | 'unknown';

/** Settings that decide the headers of the response to a forwarded request. */
export interface ResponseRules {
  readonly ownCookies: OwnCookies;
  /** True if Postern sets `Access-Control-*`, in place of the upstream. */
  readonly ownsCors: boolean;
  /** True if Postern sets `Strict-Transport-Security`, in place of the upstream. */
  readonly hasHsts: boolean;
  /** True if `Service-Worker-Allowed` is dropped, so that a service worker of an upstream controls only its own folder. */
  readonly dropsServiceWorkerScope: boolean;
  /** Returns the CORS headers of a response, names and values in turn; none when the upstream owns CORS. */
  readonly corsHeaders: (exchange: Exchange) => readonly string[];
}

/** Headers that give CDN caches other directives than `Cache-Control` does (RFC 9213). */
const targetedCaching = /^(?:[a-z-]+-)?(?:cdn-cache-control|surrogate-control)$/i;

const kind = {
  plain: 0,
  dropped: 1,
  setCookie: 2,
  cacheControl: 3,
  cors: 4,
  connection: 5,
  serviceWorkerScope: 6,
  targetedCaching: 7,
  hsts: 8,
  vary: 9,
} as const;
type Kind = (typeof kind)[keyof typeof kind];

const kindOf = cachedByName((name): Kind => {
  const lower = name.toLowerCase();
  if (lower === 'connection') return kind.connection;
  if (hopByHopOfResponses.has(lower) || lower === 'x-request-id' || lower === 'content-length')
    return kind.dropped;
  if (lower === 'set-cookie') return kind.setCookie;
  if (lower === 'service-worker-allowed') return kind.serviceWorkerScope;
  if (lower === 'strict-transport-security') return kind.hsts;
  if (lower === 'cache-control') return kind.cacheControl;
  if (lower === 'vary') return kind.vary;
  if (lower.startsWith('access-control-')) return kind.cors;
  return targetedCaching.test(name) ? kind.targetedCaching : kind.plain;
});

/**
 * Cleans the headers of an upstream's response: removes framing, hop-by-hop headers, `X-Request-Id` and Postern's own cookies. A
 * response to an authenticated request becomes private if it has no `Cache-Control`, or if shared caches don't know the request's
 * credential. Takes and returns names and values in turn.
 */
export function responseFields(
  fields: readonly string[],
  requestId: string,
  credential: SeenCredential,
  rules: Omit<ResponseRules, 'corsHeaders'>,
): string[] {
  const headers = ['X-Request-Id', requestId];
  let cacheControl: string | null = null;
  let listed: string[] | null = null;
  for (let i = 0; i < fields.length; i += 2) {
    const name = fields[i]!;
    const value = fields[i + 1]!;
    switch (kindOf(name)) {
      case kind.dropped:
        continue;
      case kind.connection:
        if (value !== 'keep-alive' && value !== 'close') listed = [...(listed ?? []), ...value.split(',')];
        continue;
      case kind.setCookie:
        if (isOwnCookie(setCookieName(value), rules.ownCookies)) continue;
        break;
      case kind.cors:
        if (rules.ownsCors) continue;
        break;
      case kind.hsts:
        if (rules.hasHsts) continue;
        break;
      case kind.serviceWorkerScope:
        if (rules.dropsServiceWorkerScope) continue;
        break;
      case kind.cacheControl:
        cacheControl = cacheControl === null ? value : `${cacheControl}, ${value}`;
        if (credential === 'unknown') continue;
        break;
      case kind.targetedCaching:
        if (credential === 'unknown') continue;
        break;
    }
    headers.push(name, value);
  }
  if (credential !== 'none' && cacheControl === null) headers.push('Cache-Control', 'private');
  else if (credential === 'unknown') headers.push('Cache-Control', privateValue(cacheControl!));
  const passed = listed === null ? headers : withoutListed(headers, listed);
  if (rules.hasHsts) passed.push(...hstsFields);
  return passed;
}

/** Returns the headers of the response to the client: the upstream's, cleaned, then Postern's own. */
export function forwardedResponseFields(
  fields: readonly string[],
  exchange: Exchange,
  principal: Principal | null,
  rules: ResponseRules,
): readonly string[] {
  // Keys by Basic are held to the same rule as those in `X-API-Key`.
  const seen = exchange.head.apiKeyCount > 0 || exchange.isByBasic ? 'unknown' : 'known';
  const all = responseFields(fields, exchange.id, principal === null ? 'none' : seen, rules);
  for (const text of rules.corsHeaders(exchange)) all.push(text);
  for (const text of exchange.responseFields) all.push(text);
  return exchange.isByWebCookie ? keptPrivate(all) : all;
}

/** The fields that may pass as trailers or in an interim response: `Vary`, and those for which Postern has no rule. */
export function trailerFields(fields: readonly string[]): string[] {
  const kept: string[] = [];
  for (let i = 0; i < fields.length; i += 2) {
    const what = kindOf(fields[i]!);
    if (what === kind.plain || what === kind.vary) kept.push(fields[i]!, fields[i + 1]!);
  }
  return kept;
}

function withoutListed(headers: readonly string[], listed: readonly string[]): string[] {
  const names = new Set(listed.map((name) => normalisedName(name.trim())));
  // These stay, whatever `Connection` lists.
  for (const kept of ['x-request-id', 'cache-control', 'set-cookie']) names.delete(kept);
  const left: string[] = [];
  for (let i = 0; i < headers.length; i += 2)
    if (!names.has(normalisedName(headers[i]!))) left.push(headers[i]!, headers[i + 1]!);
  return left;
}

/**
 * Rewrites the headers of a response to a request that the web cookie admitted, so that no cache serves it to another browser
 * (RFC 9111 §5.2.2): `Cache-Control` becomes private unless it is stricter, and `Vary` includes `Cookie`. Takes and returns names
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
      case kind.targetedCaching:
        break;
      default:
        kept.push(name, value);
    }
  }
  kept.push('Cache-Control', privateValue(directives.join(', ')));
  kept.push('Vary', varies.length === 0 ? 'Cookie' : varyingByCookie(varies));
  return kept;
}

/** Makes a `Cache-Control` private unless it is stricter. Results are cached, as services send few distinct values. */
const privateValue = cachedByName((value) => {
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

/** Splits a list into its elements; a comma in a quoted string is no separator (RFC 9110 §5.6.1). */
function listed(value: string): string[] {
  return (value.match(/(?:[^,"]|"(?:[^"\\]|\\.)*"?)+/g) ?? [])
    .map((element) => element.trim())
    .filter((element) => element !== '');
}
