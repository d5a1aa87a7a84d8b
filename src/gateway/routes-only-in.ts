import type { Config } from '../config/sections/schema.ts';

/** Returns the paths of routes that only the earlier configuration has. */
export function routesOnlyIn(before: Config, now: Config): string[] {
  const kept = new Set(now.routes.map(pathOf));
  return before.routes.map(pathOf).filter((path) => !kept.has(path));
}

const pathOf = ({ exact, prefix }: Config['routes'][number]) => exact ?? prefix!;
