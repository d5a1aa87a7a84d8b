import { readPath } from './lax-path.ts';

/** Path of the API unless `api_path` says another; the definitions of endpoints have theirs below it. */
export const defaultApiPath = '/api';

const alwaysReserved = ['/api/login', '/api/logout', '/api/admin/api-keys'] as const;

/** Paths that no setting moves: verifiers of tokens and assertions know them. */
const publishedKeys = ['/.well-known/jwks.json', '/.well-known/postern-assertion-jwks.json'] as const;

/** The area of each endpoint that an upstream may serve instead. */
const optionalAreas = {
  bootstrap: '/api/bootstrap',
  self_sessions: '/api/self/sessions',
  self_password: '/api/self/password',
  admin_sessions: '/api/admin/sessions',
  scope_sets: '/api/admin/scope-sets',
  users: '/api/admin/users',
  audit: '/api/admin/audit',
  // Last: an endpoint belongs to the first area that has its path.
  self: '/api/self',
} as const;

/** An endpoint that an upstream may serve instead. */
export type OptionalEndpoint = keyof typeof optionalAreas;

/** The optional endpoint whose area contains the path, as a definition has it; undefined if there is none. */
export function optionalEndpointAt(path: string): OptionalEndpoint | undefined {
  const names = Object.keys(optionalAreas) as OptionalEndpoint[];
  return names.find((name) => areaOf(path, [optionalAreas[name]]) !== undefined);
}

/** Server of an area; `off`: none, but the area stays reserved. */
export type ServedBy = 'own' | 'upstream' | 'off';

/** The configured paths below which Postern serves requests itself. */
export interface OwnPlaces {
  readonly apiPath: string;
  /** Path of the pages; undefined: there are none. */
  readonly webPath: string | undefined;
}

/**
 * The areas that Postern never forwards. `isUpstreams`: true if an upstream serves the endpoint. An `api_path` of its own is
 * Postern's as a whole, and leaves `/api` to the routes.
 */
export function ownAreas(
  isUpstreams: (name: OptionalEndpoint) => boolean,
  { apiPath, webPath }: OwnPlaces,
): readonly string[] {
  const names = Object.keys(optionalAreas) as OptionalEndpoint[];
  const optional = names.filter((name) => !isUpstreams(name)).map((name) => optionalAreas[name]);
  const pages = webPath === undefined ? [] : [webPath];
  return apiPath === defaultApiPath
    ? [...alwaysReserved, ...publishedKeys, ...optional, ...pages]
    : [apiPath, ...publishedKeys, ...pages];
}

/** The path of an endpoint under a configuration's `apiPath`; `path`: as its definition has it. */
export function atApiPath(path: string, apiPath: string): string {
  return areaOf(path, [defaultApiPath]) === undefined ? path : apiPath + path.slice(defaultApiPath.length);
}

/** First segments below `web.path` that pages have: an `api_path` can't begin with one of them there. */
export const pageSegments: readonly string[] = [
  'activate',
  'assets',
  'callback',
  'console',
  'enter',
  'invitation',
  'openapi.json',
  'password',
  'sign-in',
  'sign-out',
  'signed-out',
  'start',
];

/** The area that contains the path, by whole segments; undefined if none does. */
export function areaOf(path: string, areas: readonly string[]): string | undefined {
  for (const area of areas)
    if (path.startsWith(area) && (path.length === area.length || path.charCodeAt(area.length) === slash))
      return area;
  return undefined;
}

/** Creates the test for readings of a path: true if one of them is in these areas, however those are spelled. */
export function createIsOneIn(areas: readonly string[]): (readings: readonly string[]) => boolean {
  const read = [...new Set(areas.flatMap((area) => readPath(area).paths))];
  return (readings) => readings.some((reading) => areaOf(reading, read) !== undefined);
}

/** Creates the test for paths that servers may read as one in these areas, however areas and path are spelled. */
export function createMayBeRead(areas: readonly string[]): (path: string) => boolean {
  const isOneIn = createIsOneIn(areas);
  return (path) => isOneIn(readPath(path).paths);
}

const slash = 0x2f;
