import type { LongTargets } from '../http1/server/target-limits.ts';

/** Maximum target of an exchange: assertions with many groups are long, and so are the codes of some providers. */
const maxExchangeTargetBytes = 64 * 1024;

/**
 * True for a path of an identity provider, configured or not. Such URLs contain assertions and codes: no response may let a
 * browser pass one on as `Referer`.
 */
export function isProviderPath(path: string): boolean {
  return /^\/api\/login\/[^/]+\/(?:start|exchange)\/?$/.test(path);
}

/** True for a path of a provider, configured or not, whose refusals have OAuth's fields. */
export function isProviderOAuthPath(path: string): boolean {
  return /^\/api\/login\/[^/]+\/(?:exchange|back-channel-logout)\/?$/.test(path);
}

/** Targets of those providers' exchanges: GET only, because POST has a body. */
export function longExchangeTargets(providerNames: readonly string[]): LongTargets {
  const exchangePaths = providerNames.map((name) => `/api/login/${name}/exchange`);
  const paths = new Set(exchangePaths.flatMap((path) => [path, `${path}/`]));
  return { maxBytes: maxExchangeTargetBytes, has: (method, path) => method === 'GET' && paths.has(path) };
}
