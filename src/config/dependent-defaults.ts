import { hasKey, lookUp } from './report/issues.ts';
import type { JudgedConfig } from './rules/rule.ts';

/**
 * Adds the defaults that depend on other sections. With a console, Postern serves the users, or no one could be invited. With a
 * browser route at `/`, a sign-in leads there. `written`: the source of the configuration.
 */
export function withDependentDefaults<C extends JudgedConfig>(config: C, written: unknown): C {
  const { web, endpoints, routes = [] } = config;
  if (web === undefined) return config;
  const isWritten = (section: string, key: string) => hasKey(lookUp(written, [section]), key);
  const servesUsers = web.console !== undefined && !isWritten('endpoints', 'users');
  const leadsToStart = !isWritten('web', 'home') && isForBrowsers(routes, '/');
  return {
    ...config,
    ...(servesUsers && { endpoints: { ...endpoints, users: 'own' } }),
    ...(leadsToStart && { web: { ...web, home: '/' } }),
  };
}

/** True if a path that is a prefix itself belongs to a browser route. */
function isForBrowsers(routes: NonNullable<JudgedConfig['routes']>, path: string): boolean {
  const route = routes.find((each) => each?.exact === path) ?? routes.find((each) => each?.prefix === path);
  return route?.browser === true;
}
