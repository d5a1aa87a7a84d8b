import { isReservedName, normalisedName } from '../rules/known-headers.ts';
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

/** Rules for the names in `identity_headers` beyond their spelling. */
export const identityHeaderRules: readonly Rule[] = [namesAreFree, namesDiffer];
