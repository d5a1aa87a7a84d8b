import type { Config } from '../config/sections/schema.ts';
import type { OwnRoutes } from '../endpoints/routes.ts';
import type { RouteTable } from '../proxy/route-table.ts';
import type { GatewayParts } from './gateway.ts';
import { consoleHostOf } from './own-origins.ts';

/**
 * Creates the test for requests that are refused before they have a route: true if browsers expect a page there, by the spelling
 * of the path, however malformed.
 */
export function createIsForBrowsers(
  config: Config,
  own: OwnRoutes,
  routes: Pick<RouteTable, 'spelled'>,
): GatewayParts['isForBrowsers'] {
  if (config.web === undefined) return () => false;
  const isConsoleHost = consoleHostOf(config);
  return ({ path, head }) =>
    routes.spelled(path)?.isForBrowsers === true &&
    own.find(path) === undefined &&
    isConsoleHost?.(head.host) !== true;
}
