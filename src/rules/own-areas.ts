const alwaysReserved = [
  '/api/login',
  '/api/logout',
  '/api/admin/api-keys',
  '/.well-known/jwks.json',
  '/.well-known/postern-assertion-jwks.json',
] as const;

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

/** The optional endpoint whose area contains the path; undefined if there is none. */
export function optionalEndpointAt(path: string): OptionalEndpoint | undefined {
  const names = Object.keys(optionalAreas) as OptionalEndpoint[];
  return names.find((name) => areaOf(path, [optionalAreas[name]]) !== undefined);
}

/** Server of an area; `off`: none, but the area stays reserved. */
export type ServedBy = 'own' | 'upstream' | 'off';

/** The areas that Postern never forwards. `isUpstreams`: true if an upstream serves the endpoint; `webPath`: the pages' path. */
export function ownAreas(
  isUpstreams: (name: OptionalEndpoint) => boolean,
  webPath: string | undefined,
): readonly string[] {
  const names = Object.keys(optionalAreas) as OptionalEndpoint[];
  const optional = names.filter((name) => !isUpstreams(name)).map((name) => optionalAreas[name]);
  return [...alwaysReserved, ...optional, ...(webPath === undefined ? [] : [webPath])];
}

/** The area that contains the path, by whole segments; undefined if none does. */
export function areaOf(path: string, areas: readonly string[]): string | undefined {
  for (const area of areas)
    if (path.startsWith(area) && (path.length === area.length || path.charCodeAt(area.length) === slash))
      return area;
  return undefined;
}

const slash = 0x2f;
