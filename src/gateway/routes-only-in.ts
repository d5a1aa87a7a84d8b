import type { Config } from '../config/sections/schema.ts';

/** Returns the labels of routes that only the earlier configuration has. */
export function routesOnlyIn(before: Config, now: Config): string[] {
  const kept = new Set(now.routes.map(routeLabel));
  return before.routes.map(routeLabel).filter((label) => !kept.has(label));
}

/** Name of a route in log and metrics: its host, if it has one, and its path. */
export function routeLabel({ host = '', exact, prefix }: Config['routes'][number]): string {
  return host + (exact ?? prefix!);
}
