import ipaddr from 'ipaddr.js';
import { laterNames } from '../../rules/known-headers.ts';
import type { Finding } from '../report/problems.ts';
import { isClaim, nameOfClaim } from '../sections/identity-headers.ts';
import { noUpstream } from '../sections/routes.ts';
import type { Config } from '../sections/schema.ts';
import { headerWarnings } from './header-rules.ts';
import { hostWarnings } from './host-rules.ts';
import { applyRules, identityHeaders, type JudgedConfig, type Rule } from './rule.ts';
import { scopesMentioned } from './scope-rules.ts';
import { webWarnings } from './web-warnings.ts';

// A service may check such a scope itself; more often the scope is misspelt, or its routes are gone.
const scopesAreUsed: Rule = (config, { report }) => {
  const used = new Set(scopesMentioned(config));
  for (const scope of Object.keys(config.scopes ?? {}))
    if (!used.has(scope))
      report(
        ['scopes', scope],
        'no route, user, scope set or grant of this file uses this scope; those in the records are not counted',
        'key',
      );
};

// Otherwise every client could choose the address that the throttle and the log see.
const proxiesAreSome: Rule = ({ trusted_proxies = [] }, { report }) => {
  for (const [index, block] of trusted_proxies.entries())
    if (block !== undefined && isEveryone(block))
      report(['trusted_proxies', index], 'trusts every address: list only those of your proxies');
};

// Otherwise anyone could ask for decisions and claim any client address.
const askersAreSome: Rule = ({ forward_auth = [] }, { report }) => {
  for (const [index, listener] of forward_auth.entries())
    for (const [at, block] of (listener?.proxies ?? []).entries())
      if (block !== undefined && isEveryone(block))
        report(
          ['forward_auth', index, 'proxies', at],
          'lets every address ask for decisions: list only your proxies',
        );
};

// No proxy asks about such a route, and no request is forwarded by it.
const decidedRoutesAreAsked: Rule = ({ routes = [], forward_auth = [] }, { report }) => {
  if (forward_auth.length > 0) return;
  for (const [index, route] of routes.entries())
    if (route?.upstream === noUpstream)
      report(
        ['routes', index, 'upstream'],
        'is none, but no forward_auth listener is configured, so nothing uses this route',
      );
};

// A service that keys accounts by address would hand an account to anyone who claims its address at the provider.
const addressesAreVerified: Rule = (config, { report }) => {
  const careless = Object.entries(config.identity_providers ?? {})
    .filter(([, provider]) => String(provider?.require?.email_verified) !== 'true')
    .map(([name]) => name);
  const rule = `sends e-mail addresses that may be unverified: add require: { email_verified: true } to ${careless.join(', ')}`;
  for (const { path, value } of identityHeaders(config))
    if (isAddress(config, value.from) && careless.length > 0) report(path, rule, 'key');
};

/** True for a fact that is, of some provider, an e-mail address. */
function isAddress({ identity_providers: providers = {} }: JudgedConfig, from: string | undefined): boolean {
  if (from === undefined || !isClaim(from)) return from === 'email';
  return Object.values(providers).some((provider) => {
    const claim = provider?.keep?.[nameOfClaim(from)];
    return claim !== undefined && ['email', '/email', provider?.claims?.email].includes(claim);
  });
}

// A name belongs to the first user who signs in with it, and once that user is removed, to the next.
const namesAreGiven: Rule = (config, { report }) => {
  const open = Object.entries(config.identity_providers ?? {})
    .filter(([, provider]) => provider?.accounts === 'create')
    .map(([name]) => name);
  const rule = `sends user names that people may have chosen themselves: ${open.join(', ')} has accounts: create`;
  for (const { path, value } of identityHeaders(config))
    if (value.from === 'username' && open.length > 0) report(path, rule, 'key');
};

const consoleKeys = ['web', 'console'];

/**
 * Warns where a service's pages could use the console: on its origin, on other ports of its host, because browsers send cookies
 * to all ports, and on the other scheme.
 */
const consoleIsApart: Rule = ({ base_url, upstreams = {}, web }, { report }) => {
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
    report([...consoleKeys, 'base_url'], 'should have the same scheme as base_url');
};

/** True if an upstream may serve pages with scripts: any but the built-in echo. */
const mayHavePages = (upstream: { readonly url?: { readonly kind: string } } | undefined) =>
  upstream?.url !== undefined && upstream.url.kind !== 'echo';

/** True if a block contains every IPv4 or IPv6 address, or half of them: a default route is often written as two halves. */
function isEveryone(block: string): boolean {
  if (!block.includes('/')) return false;
  const [address, bits] = ipaddr.parseCIDR(block);
  if (address.kind() === 'ipv6' && (address as ipaddr.IPv6).isIPv4MappedAddress() && bits >= 96)
    return bits <= 97;
  return bits <= 1;
}

/** Findings about settings that are valid but probably unintended; `written` is the source of the configuration. */
export function warningsOf(config: Config, written: unknown): Finding[] {
  return applyRules(
    [
      scopesAreUsed,
      proxiesAreSome,
      askersAreSome,
      decidedRoutesAreAsked,
      consoleIsApart,
      addressesAreVerified,
      namesAreGiven,
      ...headerWarnings,
      ...hostWarnings,
      ...webWarnings,
    ],
    config,
    written,
  );
}

/** Notes about valid settings with consequences that the operator must know; only `check` prints them. */
export function notesOf({ upstreams }: Pick<Config, 'upstreams'>): Finding[] {
  const names = `${laterNames.slice(0, -1).join(', ')} and ${laterNames.at(-1)}`;
  const rule = `a later version may send ${names}: earlier verifiers refuse them, so first give its services those of examples/verify-assertion`;
  return Object.entries(upstreams).flatMap(([name, { assertion }]): Finding[] =>
    assertion === undefined ? [] : [{ path: ['upstreams', name, 'assertion'], rule, at: 'key' }],
  );
}
