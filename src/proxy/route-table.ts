import { Refusal } from '../errors.ts';
import type { Upstream } from './upstream.ts';

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
  readonly isPublic: boolean;
  readonly acceptsSession: boolean;
  readonly acceptsApiKey: boolean;
  /** A list (every method needs all of them) or a map by method. */
  readonly scopes: readonly string[] | MethodScopes;
  /** Protocols that a request may switch to beside `websocket`, in lower case. */
  readonly upgrades: ReadonlySet<string>;
  readonly maxBodyBytes: number;
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
  /** Throws `not_found` when no route matches, or only by ignoring a difference in case. */
  find(path: string): Route;
}

/**
 * Compiles the routes: `exact` (also with one trailing slash) before the longest segment-wise `prefix`. Only the path
 * decides. A path that a route of another case spelling would match more closely is no path at all: some upstream
 * behind the laxer route may fold case.
 */
export function createRouteTable(routes: readonly Route[]): RouteTable {
  const spelled = createIndex(routes, (path) => path);
  const folded = createIndex(routes, (path) => path.toLowerCase());
  const anyUpperCase = routes.some((route) => route.path !== route.path.toLowerCase());
  return {
    find(path) {
      const route = spelled(path);
      if (route === undefined) throw new Refusal('not_found');
      const lower = path.toLowerCase();
      if (anyUpperCase || lower !== path) {
        const closer = folded(lower);
        if (closer !== undefined && isMoreSpecific(closer, route)) throw new Refusal('not_found');
      }
      return route;
    },
  };
}

function isMoreSpecific(one: Route, other: Route): boolean {
  return one.exact === other.exact ? one.path.length > other.path.length : one.exact;
}

function createIndex(routes: readonly Route[], spell: (path: string) => string) {
  const exact = new Map<string, Route>();
  const prefixes = new Map<string, Route>();
  for (const route of routes) {
    const path = spell(withoutTrailingSlash(route.path));
    (route.exact ? exact : prefixes).set(path, route);
  }
  return (path: string): Route | undefined => {
    let candidate = withoutTrailingSlash(path);
    const found = exact.get(candidate);
    if (found !== undefined) return found;
    for (;;) {
      const route = prefixes.get(candidate);
      if (route !== undefined) return route;
      const cut = candidate.lastIndexOf('/');
      if (cut < 0) return undefined;
      candidate = candidate.slice(0, cut);
    }
  };
}

/** `/` becomes the empty text, the root of all segments. */
function withoutTrailingSlash(path: string): string {
  return path.endsWith('/') ? path.slice(0, -1) : path;
}
