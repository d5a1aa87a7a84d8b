import type { Rule } from './rule.ts';

const consoleKeys = ['web', 'console'];

const consoleRequiresAProvider: Rule = ({ identity_providers: providers = {}, web }, { report }) => {
  const required = web?.console?.require;
  if (required !== undefined && !Object.hasOwn(providers, required))
    report([...consoleKeys, 'require'], 'must be one of identity_providers');
};

/** A domain covers base_url: services would get the console's refresh cookie, too, or browsers refuse it. */
const consoleKeepsItsCookie: Rule = ({ web }, { report, isWritten }) => {
  if (web?.console?.base_url !== undefined && isWritten(['sessions', 'cookie', 'domain']))
    report(['sessions', 'cookie', 'domain'], "can't be combined with web.console.base_url");
};

/** What the pages require of the rest of the configuration. */
export const webRules: readonly Rule[] = [consoleRequiresAProvider, consoleKeepsItsCookie];

/** What a service's pages could do in spite of it: a browser sends one host's cookies to all its ports, and by http what it got by https. */
export const consoleIsApart: Rule = ({ base_url, upstreams = {}, web }, { report }) => {
  if (web?.console === undefined || base_url === undefined) return;
  const origin = web.console.base_url;
  if (origin === undefined) {
    if (Object.values(upstreams).some(isForPeople))
      report(consoleKeys, 'shares its origin with upstreams: give it a base_url of its own', 'key');
    return;
  }
  const [own, shared] = [new URL(origin), new URL(base_url)];
  if (own.hostname === shared.hostname)
    report([...consoleKeys, 'base_url'], 'shares its cookies with base_url: give it another host');
  else if (own.protocol !== shared.protocol)
    report([...consoleKeys, 'base_url'], 'should be https exactly if base_url is');
};

/** The pages of a service that could do whatever the console's user can; the echo has none of its own. */
const isForPeople = (upstream: { readonly url?: { readonly kind: string } } | undefined) =>
  upstream?.url !== undefined && upstream.url.kind !== 'echo';
