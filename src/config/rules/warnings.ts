import ipaddr from 'ipaddr.js';
import type { Finding } from '../report/problems.ts';
import { noUpstream } from '../sections/routes.ts';
import type { Config } from '../sections/schema.ts';
import { identityHeaderWarnings } from './identity-header-rules.ts';
import { applyRules, type Rule } from './rule.ts';
import { scopesMentioned } from './scope-rules.ts';
import { consoleIsApart } from './web-rules.ts';

// A service may check it itself; more often it is misspelt, or its routes are gone.
const scopesAreUsed: Rule = (config, { report }) => {
  const used = new Set(scopesMentioned(config));
  for (const scope of Object.keys(config.scopes ?? {}))
    if (!used.has(scope)) report(['scopes', scope], 'no route, scope set or grant uses this scope', 'key');
};

// Every client could then choose the address that the throttle and the log see.
const proxiesAreSome: Rule = ({ trusted_proxies = [] }, { report }) => {
  for (const [index, block] of trusted_proxies.entries())
    if (block !== undefined && isEveryone(block))
      report(['trusted_proxies', index], 'trusts every address: list only those of your proxies');
};

// Everyone could then ask for decisions, and claim any client address.
const askersAreSome: Rule = ({ forward_auth = [] }, { report }) => {
  for (const [index, listener] of forward_auth.entries())
    for (const [at, block] of (listener?.proxies ?? []).entries())
      if (block !== undefined && isEveryone(block))
        report(['forward_auth', index, 'proxies', at], 'lets every address ask: list only your proxies');
};

// Nothing asks about such a route, and nothing is forwarded by it.
const decidedRoutesAreAsked: Rule = ({ routes = [], forward_auth = [] }, { report }) => {
  if (forward_auth.length > 0) return;
  for (const [index, route] of routes.entries())
    if (route?.upstream === noUpstream)
      report(['routes', index, 'upstream'], 'is none, and no forward_auth listener could be asked about it');
};

/** Whether a block contains every IPv4 or IPv6 address, or half of them, as routing tables spell a default route. */
function isEveryone(block: string): boolean {
  if (!block.includes('/')) return false;
  const [address, bits] = ipaddr.parseCIDR(block);
  if (address.kind() === 'ipv6' && (address as ipaddr.IPv6).isIPv4MappedAddress() && bits >= 96)
    return bits <= 97;
  return bits <= 1;
}

/** What is allowed in a valid configuration but probably unintended. */
export function warningsOf(config: Config): Finding[] {
  return applyRules(
    [
      scopesAreUsed,
      proxiesAreSome,
      askersAreSome,
      decidedRoutesAreAsked,
      consoleIsApart,
      ...identityHeaderWarnings,
    ],
    config,
    config,
  );
}
