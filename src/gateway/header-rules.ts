import type { Config } from '../config/sections/schema.ts';
import type { HeaderRules } from '../http/header-names.ts';
import { credentialNames } from '../rules/known-headers.ts';

/** The rules of a configuration for the headers of clients. */
export function headerRules({ headers, upstreams }: Config): HeaderRules {
  // No client may send, on any route, a header that one upstream trusts as Postern's.
  const ofUpstreams = Object.values(upstreams).flatMap((upstream) => [
    ...Object.keys(upstream.identity_headers),
    ...Object.keys(upstream.headers).filter((name) => !credentialNames.has(name.toLowerCase())),
  ]);
  return {
    passOddNames: headers.odd_names === 'pass',
    passMethodOverride: headers.method_override === 'pass',
    dropped: [...headers.drop, ...ofUpstreams],
    passed: headers.pass,
  };
}

/** The same rules towards a service with `assertion`, which refuses whatever begins as Postern's headers and isn't signed. */
export function withoutPassed(rules: HeaderRules): HeaderRules {
  return { ...rules, passed: [] };
}
