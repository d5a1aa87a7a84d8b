import ipaddr from 'ipaddr.js';
import type { Finding } from './problems.ts';
import { applyRules, type Rule } from './rule.ts';
import type { Config } from './schema.ts';
import { scopesMentioned } from './scope-rules.ts';

// Services may check it themselves; more often it is a misspelt one, or one whose routes are gone.
const scopesAreUsed: Rule = (config, { report }) => {
  const used = new Set(scopesMentioned(config));
  for (const scope of Object.keys(config.scopes ?? {}))
    if (!used.has(scope)) report(['scopes', scope], 'no route, scope set or grant uses this scope', 'key');
};

// Every client could then choose the address that throttles and the log see.
const proxiesAreSome: Rule = ({ trusted_proxies = [] }, { report }) => {
  for (const [index, block] of trusted_proxies.entries())
    if (block !== undefined && isEveryone(block))
      report(['trusted_proxies', index], 'trusts every address: list only those of your proxies');
};

/** Whether a block holds every address of IPv4 or IPv6, or half of them as routing tables write everyone. */
function isEveryone(block: string): boolean {
  if (!block.includes('/')) return false;
  const [address, bits] = ipaddr.parseCIDR(block);
  if (address.kind() === 'ipv6' && (address as ipaddr.IPv6).isIPv4MappedAddress() && bits >= 96)
    return bits <= 97;
  return bits <= 1;
}

/** What a valid configuration says that is allowed and probably not meant. */
export function warningsOf(config: Config): Finding[] {
  return applyRules([scopesAreUsed, proxiesAreSome], config, config);
}
