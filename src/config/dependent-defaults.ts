import { hasKey, lookUp } from './report/issues.ts';
import type { JudgedConfig } from './rules/rule.ts';

/**
 * Adds the defaults that depend on other sections. The refresh cookie is for the API. With a console, Postern serves the users,
 * or no one could be invited. With a browser route at `/`, a sign-in leads there. `written`: the source of the configuration.
 */
export function withDependentDefaults<C extends JudgedConfig>(config: C, written: unknown): C {
  const { api_path: apiPath, sessions, web, endpoints, routes = [] } = config;
  const isWritten = (...path: string[]) => hasKey(lookUp(written, path.slice(0, -1)), path.at(-1)!);
  const { cookie } = sessions ?? {};
  const isForApi = apiPath !== undefined && cookie !== undefined && !isWritten('sessions', 'cookie', 'path');
  const servesUsers = web?.console !== undefined && !isWritten('endpoints', 'users');
  const leadsToStart = web !== undefined && !isWritten('web', 'home') && isForBrowsers(routes, '/');
  return {
    ...config,
    ...(isForApi && { sessions: { ...sessions, cookie: { ...cookie, path: apiPath } } }),
    ...(servesUsers && { endpoints: { ...endpoints, users: 'own' } }),
    ...(leadsToStart && { web: { ...web, home: '/' } }),
  };
}

/** True if a path that is a prefix itself belongs to a browser route at `base_url`. */
function isForBrowsers(routes: NonNullable<JudgedConfig['routes']>, path: string): boolean {
  const ofBaseUrl = routes.filter((each) => each?.host === undefined);
  const route =
    ofBaseUrl.find((each) => each?.exact === path) ?? ofBaseUrl.find((each) => each?.prefix === path);
  return route?.browser === true;
}
