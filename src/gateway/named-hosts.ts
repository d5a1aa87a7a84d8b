import type { Config } from '../config/sections/schema.ts';
import { createOwnRoutes, type OwnRoutes } from '../endpoints/routes.ts';
import { createFindHost } from '../http/named-hosts.ts';
import { createRouteTable, type RouteTable } from '../proxy/route-table.ts';
import type { HostPaths, NamedHosts } from './judge.ts';

/** Paths of a host that can't be read: Postern's own, so that its responses there have the right headers, and no route. */
const noRoutes = createRouteTable([]);
const nothing = createOwnRoutes([], []);

/** Builds the look-up of the entries of `hosts`; null without any. `own`: the paths that Postern serves on each of them. */
export function composeNamedHosts(
  { hosts, base_url: baseUrl, web }: Config,
  tables: readonly RouteTable[],
  own: OwnRoutes = nothing,
): NamedHosts | null {
  if (hosts === undefined) return null;
  const paths: readonly HostPaths[] = tables.map((routes) => ({ own, routes }));
  const unreadable: HostPaths = { own, routes: noRoutes };
  return {
    find: createFindHost({ hosts, baseUrl, console: web?.console?.base_url }),
    pathsOf: ({ entry }) => paths[entry] ?? unreadable,
  };
}
