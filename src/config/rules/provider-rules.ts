import type { Rule } from './rule.ts';

// Without pages of Postern's own, only a page of the front end can take what a provider returns.
const someoneTakesTheResponse: Rule = (
  { identity_providers: providers = {}, web },
  { report, isWritten },
) => {
  if (web !== undefined || isWritten(['web'])) return;
  for (const [name, provider] of Object.entries(providers)) {
    if (!isWritten(['identity_providers', name, 'redirect_uri']))
      report(['identity_providers', name, 'redirect_uri'], 'is required', 'key');
    if (provider?.end_session === true)
      report(['identity_providers', name, 'end_session'], 'requires web', 'key');
  }
};

/** What identity providers require of the rest of the configuration. */
export const providerRules: readonly Rule[] = [someoneTakesTheResponse];
