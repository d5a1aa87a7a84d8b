import { createApiKeyAuthenticator } from '../authenticate/api-key.ts';
import { createAuthenticate, createBearerTokenAuthenticator } from '../authenticate/authenticate.ts';
import { createBasicKeys } from '../authenticate/basic-keys.ts';
import { createHeldNow } from '../authenticate/held-now.ts';
import { createOwnCredentials, type OwnCredentials } from '../authenticate/own-credentials.ts';
import { createSessionPrincipals } from '../authenticate/session-principal.ts';
import { isClaim } from '../config/sections/identity-headers.ts';
import type { Config } from '../config/sections/schema.ts';
import { accessTokenUse, createAccessTokens } from '../credentials/access-token.ts';
import type { Holdings } from '../credentials/holdings.ts';
import { KeyPrefixes } from '../credentials/key-prefixes.ts';
import { KeyRing } from '../credentials/key-ring.ts';
import { type ClaimsOf, createClaimsOf } from '../credentials/session-claims.ts';
import { createClaimSeals } from '../credentials/session-seals.ts';
import { createVerifiedTokens } from '../credentials/verified-tokens.ts';
import type { IsKnownOrigin } from '../http/foreign-page.ts';
import { atEachHost } from '../http/named-hosts.ts';
import { traceAuthenticate } from '../runtime/spans.ts';
import type { LastingParts } from './lasting-parts.ts';
import { ownOrigins } from './own-origins.ts';
import { signInSecret } from './sign-in-secret.ts';

/** Builds the parts that identify callers. Rejects with `store_unavailable`. */
export async function composeCallers(
  config: Config,
  { stores: { records, sessions }, keys, recentUse, metrics, tracing, now }: LastingParts,
  holdings: Holdings,
  isKnownOrigin: IsKnownOrigin,
) {
  const { tenant, api_keys: apiKeys } = config;
  const claimsOf = await composeClaims(config, records);
  const { algorithm, access_lifetime: lifetimeMs } = config.tokens;
  const tokens = createAccessTokens({
    issuer: config.base_url,
    keys: new KeyRing(keys, accessTokenUse),
    algorithm,
    lifetimeMs,
    now,
  });
  const verified = createVerifiedTokens(tokens, { now });
  const principalOf = createSessionPrincipals({ sessions, records, holdings, tenant, claimsOf });
  const own = await composeOwnCredentials(config, records);
  const origins = ownOrigins(config);
  const authenticate = createAuthenticate({
    bearerToken: createBearerTokenAuthenticator(verified, principalOf),
    apiKey: createApiKeyAuthenticator({
      records,
      recentUse,
      holdings,
      tenant,
      verifications: metrics.keyVerifications,
      now,
    }),
    takesBearerKeys: apiKeys.bearer,
    basicKeys: apiKeys.basic
      ? createBasicKeys(
          own!,
          atEachHost((origin) => origins.includes(origin)),
        )
      : null,
    own,
    isKnownOrigin: atEachHost(isKnownOrigin),
  });
  return {
    tokens,
    principalOf,
    authenticate: traceAuthenticate(authenticate, tracing),
    heldNow: createHeldNow({ records, sessions, holdings, tenant, now }),
    activeSessions: verified.sessions,
  };
}

/** Builds the reader of the claims that sessions keep; null where no header of an upstream has one. */
async function composeClaims(
  { tenant, identity_providers: providers, upstreams }: Config,
  records: LastingParts['stores']['records'],
): Promise<ClaimsOf | null> {
  const told = Object.values(upstreams).flatMap((upstream) => Object.values(upstream.identity_headers));
  if (!told.some((value) => isClaim(typeof value === 'string' ? value : value.from))) return null;
  return createClaimsOf(providers, createClaimSeals({ secret: await signInSecret(records), tenant }));
}

/** Builds what recognises credentials of this tenant; null where nothing in the configuration needs it. */
async function composeOwnCredentials(
  { api_keys: apiKeys, base_url: issuer, routes }: Config,
  records: LastingParts['stores']['records'],
): Promise<OwnCredentials | null> {
  if (!apiKeys.basic && !routes.some((route) => route.authorization === 'pass')) return null;
  const prefixes = new KeyPrefixes(records);
  await prefixes.read();
  return createOwnCredentials({ keyPrefix: apiKeys.prefix, prefixes, issuer });
}
