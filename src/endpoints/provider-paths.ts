import type { LongTargets } from '../http1/server/target-limits.ts';

/** Maximum length of an exchange's target, bytes: assertions with many groups are long, and so are some providers' codes. */
const maxExchangeTargetBytes = 64 * 1024;

/**
 * True for the path of a start or exchange, of any provider, configured or not. Such URLs contain assertions and codes, which no
 * response may let a browser pass on as `Referer`.
 */
export function isProviderPath(path: string): boolean {
  return /^\/api\/login\/[^/]+\/(?:start|exchange)\/?$/.test(path);
}

/** True for the path of an exchange or back-channel logout, of any provider: their refusals have OAuth's fields. */
export function isProviderOAuthPath(path: string): boolean {
  return /^\/api\/login\/[^/]+\/(?:exchange|back-channel-logout)\/?$/.test(path);
}

/** The targets that may be long: those of these providers' exchanges, by GET alone, because POST has a body. */
export function longExchangeTargets(providerNames: readonly string[]): LongTargets {
  const exchangePaths = providerNames.map((name) => `/api/login/${name}/exchange`);
  const paths = new Set(exchangePaths.flatMap((path) => [path, `${path}/`]));
  return { maxBytes: maxExchangeTargetBytes, has: (method, path) => method === 'GET' && paths.has(path) };
}
