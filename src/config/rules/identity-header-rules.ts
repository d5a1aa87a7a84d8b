import { isReservedName, normalisedName } from '../../rules/known-headers.ts';
import type { Rule } from './rule.ts';

// A header that decides about framing, target or credentials can't also identify the caller.
const namesAreFree: Rule = ({ upstreams = {} }, { report }) => {
  for (const [upstream, settings] of Object.entries(upstreams))
    for (const name of Object.keys(settings?.identity_headers ?? {}))
      if (isReservedName(name))
        report(
          ['upstreams', upstream, 'identity_headers', name],
          'is a name that Postern checks, sets or drops',
          'key',
        );
};

const namesDiffer: Rule = ({ upstreams = {} }, { report }) => {
  for (const [upstream, settings] of Object.entries(upstreams)) {
    const seen = new Set<string>();
    for (const name of Object.keys(settings?.identity_headers ?? {})) {
      if (seen.has(normalisedName(name)))
        report(
          ['upstreams', upstream, 'identity_headers', name],
          'is a duplicate in another spelling',
          'key',
        );
      seen.add(normalisedName(name));
    }
  }
};

/** Pairs of an upstream and an identity header of its that has the given value. */
function* headersOf({ upstreams = {} }: Parameters<Rule>[0], value: string): Generator<[string, string]> {
  for (const [upstream, settings] of Object.entries(upstreams))
    for (const [name, held] of Object.entries(settings?.identity_headers ?? {}))
      if (held === value) yield [upstream, name];
}

// A service that keys accounts by address would hand an account to anyone who claims its address at the provider.
const addressesAreVerified: Rule = (config, { report }) => {
  const careless = Object.entries(config.identity_providers ?? {})
    .filter(([, provider]) => String(provider?.require?.email_verified) !== 'true')
    .map(([name]) => name);
  if (careless.length === 0) return;
  for (const [upstream, name] of headersOf(config, 'email'))
    report(
      ['upstreams', upstream, 'identity_headers', name],
      `tells addresses that need not be verified: add require: { email_verified: true } to ${careless.join(', ')}`,
      'key',
    );
};

// A name belongs to the first user who signs in with it, and once that user is removed, to the next.
const namesAreGiven: Rule = (config, { report }) => {
  const open = Object.entries(config.identity_providers ?? {})
    .filter(([, provider]) => provider?.accounts === 'create')
    .map(([name]) => name);
  if (open.length === 0) return;
  for (const [upstream, name] of headersOf(config, 'username'))
    report(
      ['upstreams', upstream, 'identity_headers', name],
      `tells names that people may have chosen themselves: ${open.join(', ')} has accounts: create`,
      'key',
    );
};

/** Warnings about `identity_headers` whose values people can choose themselves, for services that key accounts by them. */
export const identityHeaderWarnings: readonly Rule[] = [addressesAreVerified, namesAreGiven];

/** Rules for the names in `identity_headers` beyond their spelling. */
export const identityHeaderRules: readonly Rule[] = [namesAreFree, namesDiffer];
