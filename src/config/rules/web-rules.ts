import type { Rule } from './rule.ts';

const consoleKeys = ['web', 'console'];

const consoleRequiresAProvider: Rule = ({ identity_providers: providers = {}, web }, { report }) => {
  const required = web?.console?.require;
  if (required !== undefined && !Object.hasOwn(providers, required))
    report([...consoleKeys, 'require'], 'must be one of identity_providers');
};

/** A cookie's domain covers base_url, so services would get the console's refresh cookie, too. */
const consoleKeepsItsCookie: Rule = ({ web }, { report, isWritten }) => {
  if (web?.console?.base_url !== undefined && isWritten(['sessions', 'cookie', 'domain']))
    report(['sessions', 'cookie', 'domain'], "can't be combined with web.console.base_url");
};

/** What the pages require of the rest of the configuration. */
export const webRules: readonly Rule[] = [consoleRequiresAProvider, consoleKeepsItsCookie];

/**
 * Where the pages of a service could use the console: on its origin, on another port of its host, since browsers send cookies to
 * all of them, and by the other scheme.
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

/** Whether it may have pages with scripts: all but the echo. */
const mayHavePages = (upstream: { readonly url?: { readonly kind: string } } | undefined) =>
  upstream?.url !== undefined && upstream.url.kind !== 'echo';
