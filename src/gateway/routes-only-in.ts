import type { Config } from '../config/sections/schema.ts';

/** Paths of routes that a configuration had, and the next one has not. */
export function routesOnlyIn(before: Config, now: Config): string[] {
  const kept = new Set(now.routes.map(pathOf));
  return before.routes.map(pathOf).filter((path) => !kept.has(path));
}

const pathOf = ({ exact, prefix }: Config['routes'][number]) => exact ?? prefix!;
