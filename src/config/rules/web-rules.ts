import type { Rule } from './rule.ts';

const consoleKeys = ['web', 'console'];

const consoleRequiresAProvider: Rule = ({ identity_providers: providers = {}, web }, { report }) => {
  const required = web?.console?.require;
  if (required !== undefined && !Object.hasOwn(providers, required))
    report([...consoleKeys, 'require'], 'must be one of identity_providers');
};

/** Rejects a cookie domain beside the console: services on the domain would receive the console's refresh cookie, too. */
const consoleKeepsItsCookie: Rule = ({ web }, { report, isWritten }) => {
  if (web?.console?.base_url !== undefined && isWritten(['sessions', 'cookie', 'domain']))
    report(['sessions', 'cookie', 'domain'], "can't be combined with web.console.base_url");
};

/** Rules that the pages impose on the rest of the configuration. */
export const webRules: readonly Rule[] = [consoleRequiresAProvider, consoleKeepsItsCookie];

/**
 * Warns where a service's pages could use the console: on its origin, on other ports of its host, because browsers send cookies
 * to all ports, and on the other scheme.
 */
export const consoleIsApart: Rule = ({ base_url, upstreams = {}, web }, { report }) => {
  if (web?.console === undefined || base_url === undefined) return;
  const origin = web.console.base_url;
  if (origin === undefined) {
    if (Object.values(upstreams).some(mayHavePages))
      report(consoleKeys, 'shares its origin with upstreams: give it a base_url of its own', 'key');
    return;
  }
  const [own, shared] = [new URL(origin), new URL(base_url)];
  if (own.hostname === shared.hostname)
    report([...consoleKeys, 'base_url'], 'shares its cookies with base_url: give it another host');
  else if (own.protocol !== shared.protocol)
    report([...consoleKeys, 'base_url'], 'should be https exactly if base_url is');
};

/** True if an upstream may serve pages with scripts: any but the built-in echo. */
const mayHavePages = (upstream: { readonly url?: { readonly kind: string } } | undefined) =>
  upstream?.url !== undefined && upstream.url.kind !== 'echo';
