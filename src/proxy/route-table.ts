import { Refusal } from '../errors.ts';
import type { Upstream } from '../http1/client-pool.ts';
import { hasOtherReadings, laxReadings } from '../rules/lax-path.ts';
import type { IdentityHeadersOf } from './identity-headers.ts';

/** The scopes a call needs, by method; as the configuration gives them. */
export interface MethodScopes {
  readonly read?: readonly string[];
  readonly write?: readonly string[];
  readonly [method: string]: readonly string[] | undefined;
}

/** A configured route, normalised. Durations in milliseconds, sizes in bytes. */
export interface RouteOptions {
  /** As configured, for log and metrics. */
  readonly label: string;
  readonly path: string;
  readonly exact: boolean;
  readonly upstream: Upstream;
  /** What the upstream is told of a caller. */
  readonly identityHeadersOf: IdentityHeadersOf;
  readonly isPublic: boolean;
  /** The upstream answers preflights itself: they go there as nobody's. */
  readonly passesPreflights: boolean;
  readonly acceptsSession: boolean;
  readonly acceptsApiKey: boolean;
  /** A list (every method needs all of them) or a map by method. */
  readonly scopes: readonly string[] | MethodScopes;
  /** Protocols that a request may switch to beside `websocket`, in lower case. */
  readonly upgrades: ReadonlySet<string>;
  readonly maxBodyBytes: number;
  /** Averaged; slower bodies are refused; 0: no bound. */
  readonly leastBodyBytesPerSecond: number;
  readonly connectTimeoutMs: number;
  readonly responseTimeoutMs: number;
  readonly idleTimeoutMs: number;
}

/** Where a request goes and what it takes to get there. */
export interface Route extends RouteOptions {
  /**
   * The scopes that `method` needs, all of them; a method's own entry replaces that of its kind.
   *
   * Throws `method_not_allowed` when no entry covers it.
   */
  scopesFor(method: string): readonly string[];
}

const readMethods: ReadonlySet<string> = new Set(['GET', 'HEAD', 'OPTIONS']);
const writeMethods = ['POST', 'PUT', 'PATCH', 'DELETE'] as const;

/** Adds what is worked out once per route. */
export function createRoute(options: RouteOptions): Route {
  return { ...options, scopesFor: scopesByMethod(options.scopes) };
}

function scopesByMethod(scopes: readonly string[] | MethodScopes): Route['scopesFor'] {
  if (Array.isArray(scopes)) {
    const always: readonly string[] = scopes;
    return () => always;
  }
  const { read, write, ...own } = scopes as MethodScopes;
  const byMethod = new Map(Object.entries(own));
  // What HEAD tells is what GET would (RFC 9110 §9.3.2).
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

/** Finds the route of a path. */
export interface RouteTable {
  /** Throws `not_found` when no route matches, or a lax server would read the path as one of a closer route. */
  find(path: string): Route;
}

/**
 * Compiles the routes: `exact` (also with one trailing slash) before the longest segment-wise `prefix`. Only the path
 * decides. A path that reads as one of a more specific route, once escapes are decoded, case is folded and `;…` is cut,
 * is no path at all: some upstream behind the laxer route may read it so.
 */
export function createRouteTable(routes: readonly Route[]): RouteTable {
  const spelled = createIndex<Route>();
  const read = createIndex<Reading>();
  const shortest = new Map<Route, number>();
  for (const route of routes) {
    spelled.add(withoutTrailingSlash(route.path), route.exact, route);
    const readings = laxReadings(route.path);
    for (const path of readings) read.add(path, route.exact, { route, length: path.length });
    shortest.set(route, Math.min(...readings.map((path) => path.length)));
  }
  const allPlain = !routes.some((route) => hasOtherReadings(route.path));

  function isCloser({ route, length }: Reading, matched: Route): boolean {
    if (route === matched) return false;
    return route.exact === matched.exact ? length > shortest.get(matched)! : route.exact;
  }

  return {
    find(path) {
      const route = spelled.find(withoutTrailingSlash(path));
      if (route === undefined) throw new Refusal('not_found');
      if (allPlain && !hasOtherReadings(path)) return route;
      for (const reading of laxReadings(path)) {
        const found = read.find(reading);
        if (found !== undefined && isCloser(found, route)) throw new Refusal('not_found');
      }
      return route;
    },
  };
}

/** A route under one of the readings of its path. */
interface Reading {
  readonly route: Route;
  /** Of the path as read. */
  readonly length: number;
}

/** Looks paths without trailing slash up: exact ones first, then the longest prefix. */
function createIndex<Entry>() {
  const exact = new Map<string, Entry>();
  const prefixes = new Map<string, Entry>();
  return {
    add(path: string, isExact: boolean, entry: Entry): void {
      (isExact ? exact : prefixes).set(path, entry);
    },
    find(path: string): Entry | undefined {
      const found = exact.get(path);
      if (found !== undefined) return found;
      let candidate = path;
      for (;;) {
        const entry = prefixes.get(candidate);
        if (entry !== undefined) return entry;
        const cut = candidate.lastIndexOf('/');
        if (cut < 0) return undefined;
        candidate = candidate.slice(0, cut);
      }
    },
  };
}

/** `/` becomes the empty text, the root of all segments. */
function withoutTrailingSlash(path: string): string {
  return path.endsWith('/') ? path.slice(0, -1) : path;
}
