import { hasOtherReadings } from '../rules/lax-path.ts';
import { areaOf, createIsOneIn } from '../rules/own-areas.ts';
import type { AnyEndpoint } from './endpoint.ts';

/** Endpoints at one path, with or without a trailing slash, by method. */
export interface Resource {
  readonly endpoints: ReadonlyMap<string, AnyEndpoint>;
  /** Methods for the header `Allow`. */
  readonly methods: readonly string[];
  /** The path as declared, for log and metrics. */
  readonly label: string;
  /** True if errors carry OAuth's fields. */
  readonly oauth: boolean;
}

/** Match of one of Postern's own paths: a resource, or an undefined path within a reserved area. */
export interface OwnMatch {
  readonly resource: Resource | null;
  readonly id: string;
}

/** Table of the paths that Postern serves itself. */
export interface OwnRoutes {
  /** The match of a path as it is spelled; undefined for any other path. */
  find(path: string): OwnMatch | undefined;
  /** The match of another path that has an own path among its `readings`; undefined if it may be forwarded. */
  findRead(readings: readonly string[]): OwnMatch | undefined;
  /** True if a path without capitals and escapes is never another spelling of an own path. */
  readonly arePlain: boolean;
}

/**
 * Builds the table of endpoints, whose paths are those under this configuration. `areas` are reserved as a whole: an undefined
 * path in an area is 404 and never forwarded.
 */
export function createOwnRoutes(endpoints: readonly AnyEndpoint[], areas: readonly string[]): OwnRoutes {
  const byPath = Map.groupBy(endpoints, ({ path }) => path);
  const resources = new Map([...byPath].map(([path, same]) => [path, createResource(path, same)]));
  const nothing: OwnMatch = { resource: null, id: '' };

  const isOneOwn = createIsOneIn(areas);

  function resourceAt(path: string): OwnMatch {
    const exact = path.endsWith('/') ? path.slice(0, -1) : path;
    const resource = resources.get(exact);
    if (resource !== undefined) return { resource, id: '' };
    const last = exact.lastIndexOf('/');
    const beforeLast = exact.lastIndexOf('/', last - 1);
    return withId(exact, last + 1, exact.length) ?? withId(exact, beforeLast + 1, last) ?? nothing;
  }

  /** The resource whose `{id}` is the segment between these positions. */
  function withId(path: string, start: number, end: number): OwnMatch | undefined {
    if (start >= end) return undefined;
    const resource = resources.get(`${path.slice(0, start)}{id}${path.slice(end)}`);
    return resource && { resource, id: path.slice(start, end) };
  }

  return {
    find: (path) => (areaOf(path, areas) === undefined ? undefined : resourceAt(path)),
    // Another spelling of an own path is never forwarded either: some upstream may read it as that path.
    findRead: (readings) => (isOneOwn(readings) ? nothing : undefined),
    arePlain: !areas.some(hasOtherReadings),
  };
}

function createResource(path: string, all: readonly AnyEndpoint[]): Resource {
  const endpoints = new Map<string, AnyEndpoint>();
  for (const endpoint of all) {
    endpoints.set(endpoint.method, endpoint);
    if (endpoint.method === 'GET' && !endpoint.noHead) endpoints.set('HEAD', endpoint);
  }
  const oauth = [...endpoints.values()].some((endpoint) => endpoint.oauth === true);
  return { endpoints, methods: [...endpoints.keys(), 'OPTIONS'], label: path, oauth };
}
