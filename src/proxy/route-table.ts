import type { Assert } from '../credentials/assertion.ts';
import { Refusal } from '../errors.ts';
import type { Challenge } from '../http/challenge.ts';
import type { PassedMeaning } from '../http/header-names.ts';
import type { Upstream } from '../http1/client/client-pool.ts';
import type { FieldBlock } from '../http1/message/head-text.ts';
import { decodedLength, hasOtherReadings, readPath } from '../rules/lax-path.ts';
import type { PassedSpellings } from '../rules/passed-spellings.ts';
import type { IdentityHeadersOf } from './identity-headers.ts';

/** The scopes a call needs, by method, as configured. */
export interface MethodScopes {
  readonly read?: readonly string[];
  readonly write?: readonly string[];
  readonly [method: string]: readonly string[] | undefined;
}

/** A configured route, normalised. Durations in milliseconds, sizes in bytes. */
export interface RouteOptions {
  /** The configured path, for log and metrics. */
  readonly label: string;
  readonly path: string;
  readonly exact: boolean;
  /** Ambiguous spellings in its paths that the upstream receives; any other is refused. */
  readonly passes: PassedSpellings;
  /** The beginning of its path that is removed before forwarding; empty: nothing is. */
  readonly strippedPrefix: string;
  /** The target to send in place of the received one; null: it is sent as received. */
  readonly sentTarget: ((target: string) => string) | null;
  /** Null: Postern only decides about requests, and another proxy forwards them. */
  readonly upstream: Upstream | null;
  /** Configured address of the upstream, for the log: host and port, or the path of its socket; empty without one. */
  readonly upstreamAddress: string;
  readonly identityHeadersOf: IdentityHeadersOf;
  readonly passedMeaning: PassedMeaning;
  /** Headers with configured values for the upstream; null: there are none. */
  readonly fixedHeaders: FieldBlock | null;
  /** Signs the assertion that proves to the upstream that a request comes from Postern; null: none is sent. */
  readonly assert: Assert | null;
  readonly isPublic: boolean;
  readonly isForBrowsers: boolean;
  /** True if an `Authorization` or `X-API-Key` without a credential of this tenant is forwarded, and never judged. */
  readonly passesAuthorization: boolean;
  /** The schemes that a 401 names. */
  readonly challenge: Challenge;
  /** True if preflights are forwarded, unauthenticated, for the upstream to respond to. */
  readonly passesPreflights: boolean;
  /** True if CORS is the upstream's own on this route: Postern neither sets `Access-Control-*` nor responds to preflights. */
  readonly leavesCors: boolean;
  readonly acceptsSession: boolean;
  readonly acceptsApiKey: boolean;
  /** A list of scopes that every method needs, or a map by method. */
  readonly scopes: readonly string[] | MethodScopes;
  /** Protocols other than `websocket` that a request may switch to, in lower case. */
  readonly upgrades: ReadonlySet<string>;
  readonly maxBodyBytes: number;
  /** Minimum average rate, below which a body is refused; 0: none. */
  readonly leastBodyBytesPerSecond: number;
  /** Time limits of the upstream; 0 if there is none. */
  readonly connectTimeoutMs: number;
  readonly responseTimeoutMs: number;
  readonly idleTimeoutMs: number;
}

/** A route, with the scopes that it needs. */
export interface Route extends RouteOptions {
  /** All scopes `method` needs; its own entry overrides `read` and `write`. Throws `method_not_allowed` if no entry covers it. */
  scopesFor(method: string): readonly string[];
}

/** A route by which requests are forwarded. */
export interface ForwardingRoute extends Route {
  readonly upstream: Upstream;
}

/** True if requests are forwarded by the route. */
export function isForwarding(route: Route): route is ForwardingRoute {
  return route.upstream !== null;
}

const readMethods: ReadonlySet<string> = new Set(['GET', 'HEAD', 'OPTIONS']);
const writeMethods = ['POST', 'PUT', 'PATCH', 'DELETE'] as const;

/** Creates a route from its options, with its scopes indexed by method. */
export function createRoute<Options extends RouteOptions>(options: Options): Options & Route {
  return { ...options, scopesFor: scopesByMethod(options.scopes) };
}

function scopesByMethod(scopes: readonly string[] | MethodScopes): Route['scopesFor'] {
  if (Array.isArray(scopes)) {
    const always: readonly string[] = scopes;
    return () => always;
  }
  const { read, write, ...own } = scopes as MethodScopes;
  const byMethod = new Map(Object.entries(own));
  // HEAD reveals what GET would (RFC 9110 §9.3.2).
  if (own.GET !== undefined && own.HEAD === undefined) byMethod.set('HEAD', own.GET);
  const allow = [
    ...(read === undefined ? [] : readMethods),
    ...(write === undefined ? [] : writeMethods),
    ...byMethod.keys(),
  ];
  return (method) => {
    const needed = byMethod.get(method) ?? (readMethods.has(method) ? read : write);
    if (needed === undefined) throw new Refusal('method_not_allowed', { allow: [...new Set(allow)] });
    return needed;
  };
}

/** The routes, ready for look-ups. */
export interface RouteTable {
  /** The route of the path exactly as it is spelled; undefined if there is none. */
  spelled(path: string): Route | undefined;
  /** Throws `not_found` if a path that is spelled as `route`’s falls to a more specific route by one of its `readings`. */
  assertNoneCloser(route: Route, readings: readonly string[]): void;
  /** True if a path without capitals and escapes is never another spelling of a route's. */
  readonly arePlain: boolean;
}

/**
 * Compiles the routes: an `exact` path (with or without a trailing slash) wins over prefixes, and the longest prefix of whole
 * segments over shorter ones. A path that falls to a more specific route by another reading ({@link readPath}) matches nothing:
 * an upstream behind the less specific route may read it that way.
 */
export function createRouteTable(routes: readonly Route[]): RouteTable {
  const spelled = createIndex<Route>();
  const read = createIndex<Reading>();
  const shortest = new Map<Route, number>();
  for (const route of routes) {
    spelled.add(withoutTrailingSlash(route.path), route.exact, route);
    const readings = readPath(route.path).paths;
    for (const path of readings) read.add(path, route.exact, { route, length: decodedLength(path) });
    shortest.set(route, Math.min(...readings.map(decodedLength)));
  }

  function isCloser({ route, length }: Reading, matched: Route): boolean {
    if (route === matched) return false;
    return route.exact === matched.exact ? length > shortest.get(matched)! : route.exact;
  }

  return {
    spelled: (path) => spelled.find(withoutTrailingSlash(path)),
    assertNoneCloser(route, readings) {
      for (const reading of readings) {
        const found = read.find(reading);
        if (found !== undefined && isCloser(found, route))
          throw new Refusal('not_found', { reason: 'path is ambiguous between routes' });
      }
    },
    arePlain: !routes.some((route) => hasOtherReadings(route.path)),
  };
}

/** A route, and the {@link decodedLength} of one of the readings of its path. */
interface Reading {
  readonly route: Route;
  readonly length: number;
}

/**
 * Creates an index of entries by path, without trailing slash: exact paths are found first, then the longest prefix. A look-up
 * takes one step per distinct length of the prefixes, however many segments a client's path has.
 */
function createIndex<Entry>() {
  const exact = new Map<string, Entry>();
  const prefixes = new Map<string, Entry>();
  /** Distinct lengths of the prefixes, the longest first. */
  let lengths: readonly number[] = [];
  return {
    add(path: string, isExact: boolean, entry: Entry): void {
      (isExact ? exact : prefixes).set(path, entry);
      if (!isExact) lengths = [...new Set([...lengths, path.length])].sort((one, other) => other - one);
    },
    find(path: string): Entry | undefined {
      const found = exact.get(path);
      if (found !== undefined) return found;
      for (const length of lengths) {
        const isWhole = length === path.length || path.charCodeAt(length) === slash;
        const entry = isWhole ? prefixes.get(path.slice(0, length)) : undefined;
        if (entry !== undefined) return entry;
      }
      return undefined;
    },
  };
}

const slash = 0x2f;

/** Removes a trailing slash: `/` becomes the empty string, the prefix of every path. */
function withoutTrailingSlash(path: string): string {
  return path.endsWith('/') ? path.slice(0, -1) : path;
}
