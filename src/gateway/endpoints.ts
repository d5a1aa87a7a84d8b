import { randomBytes } from 'node:crypto';
import type { Config } from '../config/schema.ts';
import type { AccessTokens } from '../credentials/access-token.ts';
import { createCursors } from '../credentials/cursor.ts';
import type { Holdings } from '../credentials/holdings.ts';
import { createPasswordHasher } from '../credentials/passwords.ts';
import type { RecentUse } from '../credentials/recent-use.ts';
import { createRefreshCookies } from '../credentials/refresh-cookie.ts';
import { createBootstrapThrottle, createLoginThrottle } from '../credentials/throttle.ts';
import type { WorkLoad } from '../credentials/work-queue.ts';
import { createApiKeyCreate } from '../endpoints/api-keys/create.ts';
import { createApiKeyDelete } from '../endpoints/api-keys/delete.ts';
import { createApiKeyFilters, createApiKeyScopes } from '../endpoints/api-keys/describe.ts';
import { createApiKeyList } from '../endpoints/api-keys/list.ts';
import { createApiKeyRead } from '../endpoints/api-keys/read.ts';
import { createAudit } from '../endpoints/audit.ts';
import { createBootstrap } from '../endpoints/bootstrap.ts';
import { createJwks } from '../endpoints/jwks.ts';
import { createLogin } from '../endpoints/login.ts';
import { createLogout } from '../endpoints/logout.ts';
import { createRefresh } from '../endpoints/refresh.ts';
import { createOwnRoutes, type OwnRoutes } from '../endpoints/routes.ts';
import { createSignIn } from '../endpoints/sign-in.ts';
import type { CookieAttributes } from '../http/cookies.ts';
import type { IsKnownOrigin } from '../http/foreign-page.ts';
import type { Log } from '../log/log.ts';
import type { Tracing } from '../tracing/tracing.ts';
import type { ProviderEndpoints, SignInParts } from './identity-providers.ts';
import type { GatewayMetrics } from './metrics.ts';
import type { Stores } from './stores.ts';

/** What the endpoints share with the request path. */
export interface EndpointParts {
  readonly stores: Stores;
  readonly tokens: AccessTokens;
  readonly recentUse: RecentUse;
  readonly catalogue: ReadonlySet<string>;
  readonly holdings: Holdings;
  readonly cookie: CookieAttributes;
  readonly isKnownOrigin: IsKnownOrigin;
  readonly log: Log;
  readonly metrics: Pick<GatewayMetrics, 'refreshes' | 'loginsBy'>;
  readonly tracing: Tracing | null;
  readonly now: () => number;
  /** Ends what a session or key has open. */
  readonly onCredentialEnded: (credentialId: string) => void;
}

const secretBytes = 32;

/** Everything that Postern answers itself. */
export interface OwnEndpoints {
  readonly routes: OwnRoutes;
  /** How many password hashes run and wait now. */
  passwordHashes(): WorkLoad;
  /** Ends what they have open elsewhere. */
  close(): Promise<void>;
}

/** Builds everything that Postern answers itself. */
export async function composeEndpoints(config: Config, parts: EndpointParts): Promise<OwnEndpoints> {
  const { stores, tokens, recentUse, catalogue, holdings, cookie, isKnownOrigin, metrics, now } = parts;
  const { records, sessions, attempts } = stores;
  // All there are, so that each is at 0 before its first.
  for (const method of ['password', ...Object.keys(config.identity_providers)]) metrics.loginsBy(method);
  const audit = createAudit(parts.log, (method, outcome) => {
    metrics.loginsBy(method)[outcome]++;
  });
  const cookies = createRefreshCookies({
    secret: await records.secret('cookie', randomBytes(secretBytes)),
    tenant: config.tenant,
    name: cookie.name,
  });
  const cursors = createCursors(await records.secret('cursor', randomBytes(secretBytes)));
  const passwords = createPasswordHasher({
    ...config.passwords,
    memoryBytes: config.passwords.memory,
    storedHashes: () => records.passwordHashKinds(),
  });
  const limits = {
    perAccountAndAddress: config.login_throttle.per_account_and_address,
    perAccount: config.login_throttle.per_account,
    perAddress: config.login_throttle.per_address,
    windowMs: config.login_throttle.window,
  };
  const times = {
    idleLifetimeMs: config.sessions.idle_lifetime,
    absoluteLifetimeMs: config.sessions.absolute_lifetime,
    reuseGraceMs: config.sessions.reuse_grace,
  };
  const signIn = createSignIn({ sessions, times, tokens, cookies, cookie, holdings });
  const onSessionEnded = parts.onCredentialEnded;
  const throttle = createLoginThrottle(attempts, limits);
  const providers = await composeProviders(config, { ...parts, signIn, audit });
  const endpoints = [
    ...providers.endpoints,
    createLogin({ records, passwords, throttle, signIn, recentUse, isKnownOrigin, audit, now }),
    createRefresh({
      sessions,
      records,
      cookies,
      cookie,
      times,
      signIn,
      isKnownOrigin,
      audit,
      refreshes: metrics.refreshes,
      onSessionEnded,
    }),
    createLogout({ sessions, cookies, cookie, audit, onSessionEnded }),
    createApiKeyList({ records, cursors, catalogue, now }),
    createApiKeyFilters(catalogue),
    createApiKeyScopes(catalogue),
    createApiKeyRead({ records, catalogue, now }),
    createApiKeyCreate({
      records,
      catalogue,
      prefix: config.api_keys.prefix,
      maxLifetimeMs: config.api_keys.max_lifetime ?? null,
      audit,
      now,
      random: randomBytes,
    }),
    createApiKeyDelete({ records, audit, onKeyDeleted: parts.onCredentialEnded }),
    createJwks(tokens),
    ...(config.endpoints.bootstrap === 'own'
      ? [
          createBootstrap({
            records,
            configuredToken: config.bootstrap.token ?? null,
            passwords,
            minPasswordLength: config.passwords.min_length,
            throttle: createBootstrapThrottle(attempts, limits),
            audit,
            now,
          }),
        ]
      : []),
  ];
  return {
    routes: createOwnRoutes(endpoints, config.endpoints),
    passwordHashes: passwords.load,
    close: () => providers.close(),
  };
}

/** What signs in through providers is loaded where there are some. */
async function composeProviders(config: Config, parts: SignInParts): Promise<ProviderEndpoints> {
  if (Object.keys(config.identity_providers).length === 0) return { endpoints: [], async close() {} };
  const { composeIdentityProviders } = await import('./identity-providers.ts');
  return composeIdentityProviders(config, parts);
}
