import type { Config } from '../config/sections/schema.ts';
import { builtInScopes } from '../config/values/scope-names.ts';
import { createPassedMeaning } from '../http/header-names.ts';
import { FieldBlock } from '../http1/message/head-text.ts';
import { createIdentityHeaders } from '../proxy/identity-headers.ts';
import type { RouteOptions } from '../proxy/route-table.ts';
import { headerRules, withoutPassed } from './header-rules.ts';

/** Headers of requests to one upstream: the client's that pass, who is calling, and those with fixed values. */
export type UpstreamHeaders = Pick<RouteOptions, 'passedMeaning' | 'identityHeadersOf' | 'fixedHeaders'>;

/** Creates the function that returns the headers of an upstream; `none`, which is no upstream's name, has none of its own. */
export function composeUpstreamHeaders(config: Config): (upstream: string) => UpstreamHeaders {
  const { tenant, headers, upstreams } = config;
  const context = { tenant, builtInScopes: new Set(Object.keys(builtInScopes)) };
  const rules = headerRules(config);
  const passedMeaning = createPassedMeaning(rules);
  const signed = headers.pass.length === 0 ? passedMeaning : createPassedMeaning(withoutPassed(rules));
  const plain = { passedMeaning, identityHeadersOf: createIdentityHeaders({}, context), fixedHeaders: null };
  const known = new Map<string, UpstreamHeaders>();
  for (const [name, { identity_headers: identity, headers: fixed, assertion }] of Object.entries(upstreams)) {
    const fields = Object.entries(fixed).flat();
    known.set(name, {
      passedMeaning: assertion === undefined ? passedMeaning : signed,
      identityHeadersOf: createIdentityHeaders(identity, context),
      fixedHeaders: fields.length === 0 ? null : new FieldBlock(fields),
    });
  }
  return (upstream) => known.get(upstream) ?? plain;
}
