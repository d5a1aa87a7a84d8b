import type { Rule } from './rule.ts';

const consoleKeys = ['web', 'console'];

const consoleRequiresAProvider: Rule = ({ identity_providers: providers = {}, web }, { report }) => {
  const required = web?.console?.require;
  if (required !== undefined && !Object.hasOwn(providers, required))
    report([...consoleKeys, 'require'], 'must be one of identity_providers');
};

const consoleHasAnOriginOfItsOwn: Rule = ({ base_url, web }, { report }) => {
  const origin = web?.console?.base_url;
  if (origin === undefined || base_url === undefined) return;
  const [own, shared] = [new URL(origin), new URL(base_url)];
  // A browser sends one host’s cookies to all its ports, and by http what it got by https.
  if (own.hostname === shared.hostname)
    report([...consoleKeys, 'base_url'], 'must be another host than base_url');
  else if (own.protocol !== shared.protocol)
    report([...consoleKeys, 'base_url'], 'must be https exactly if base_url is');
};

/** A domain covers base_url: services would get the console's refresh cookie, too, or browsers refuse it. */
const consoleKeepsItsCookie: Rule = ({ web }, { report, isWritten }) => {
  if (web?.console?.base_url !== undefined && isWritten(['sessions', 'cookie', 'domain']))
    report(['sessions', 'cookie', 'domain'], "can't be combined with web.console.base_url");
};

/** What the pages require of the rest of the configuration. */
export const webRules: readonly Rule[] = [
  consoleRequiresAProvider,
  consoleHasAnOriginOfItsOwn,
  consoleKeepsItsCookie,
];

/** The pages of a service could do whatever the console's user can: they share an origin. The echo has none of its own. */
export const consoleSharesItsOrigin: Rule = ({ upstreams = {}, web }, { report }) => {
  if (web?.console === undefined || web.console.base_url !== undefined) return;
  if (
    Object.values(upstreams).some((upstream) => upstream?.url !== undefined && upstream.url.kind !== 'echo')
  )
    report(consoleKeys, 'shares its origin with upstreams: give it a base_url of its own', 'key');
};
