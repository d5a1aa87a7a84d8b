import type { LongTargets } from '../http1/server/target-limits.ts';

/** Maximum length of an exchange's target, bytes: assertions with many groups are long, and so are some providers' codes. */
const maxExchangeTargetBytes = 64 * 1024;

/**
 * Creates the test for the path of a start or exchange, of any provider, configured or not. Such URLs contain assertions and
 * codes, which no response may let a browser pass on as `Referer`.
 */
export function createIsProviderPath(apiPath: string): (path: string) => boolean {
  return createTest(apiPath, '(?:start|exchange)');
}

/**
 * Creates the test for the path of an exchange or back-channel logout, of any provider: their refusals have OAuth's fields.
 */
export function createIsProviderOAuthPath(apiPath: string): (path: string) => boolean {
  return createTest(apiPath, '(?:exchange|back-channel-logout)');
}

function createTest(apiPath: string, last: string): (path: string) => boolean {
  const pattern = new RegExp(`^${apiPath.replaceAll('.', '\\.')}/login/[^/]+/${last}/?$`);
  return (path) => pattern.test(path);
}

/** The targets that may be long: those of these providers' exchanges, by GET alone, because POST has a body. */
export function longExchangeTargets(apiPath: string, providerNames: readonly string[]): LongTargets {
  const exchangePaths = providerNames.map((name) => `${apiPath}/login/${name}/exchange`);
  const paths = new Set(exchangePaths.flatMap((path) => [path, `${path}/`]));
  return { maxBytes: maxExchangeTargetBytes, has: (method, path) => method === 'GET' && paths.has(path) };
}
