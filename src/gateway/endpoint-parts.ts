import { randomBytes } from 'node:crypto';
import { providerOf } from '../config/sections/identity-providers.ts';
import type { Config } from '../config/sections/schema.ts';
import { builtInScopes, catalogueOf } from '../config/values/scope-names.ts';
import type { AccessTokens } from '../credentials/access-token.ts';
import { createCursors } from '../credentials/cursor.ts';
import type { Holdings } from '../credentials/holdings.ts';
import { createPasswordHasher } from '../credentials/passwords.ts';
import { createRefreshCookies } from '../credentials/refresh-cookie.ts';
import { createAddressThrottle, createLoginThrottle } from '../credentials/throttle.ts';
import type { DescribedScope, EndpointParts, KeyRoute } from '../endpoints/endpoint-parts.ts';
import { PasswordSignIn } from '../endpoints/password-sign-in.ts';
import { SignIn } from '../endpoints/sign-in.ts';
import { type CookieAttributes, setCookie } from '../http/cookies.ts';
import type { IsKnownOrigin } from '../http/foreign-page.ts';
import { nameOfOrigin } from '../rules/name-of-origin.ts';
import type { Assertions } from './assertions.ts';
import type { BrowserParts } from './browser.ts';
import type { LastingParts } from './lasting-parts.ts';
import { loginLimits } from './login-limits.ts';
import { sessionTimesOf } from './session-times.ts';

/** Dependencies that Postern's own endpoints share with the request path. */
export interface SharedParts extends LastingParts {
  readonly tokens: AccessTokens;
  readonly assertions: Pick<Assertions, 'published'>;
  readonly catalogue: ReadonlySet<string>;
  readonly holdings: Holdings;
  readonly cookie: CookieAttributes;
  readonly isKnownOrigin: IsKnownOrigin;
  readonly web: BrowserParts['web'];
}

const cursorSecretBytes = 32;

/** Builds the dependencies of the API's endpoints. */
export async function composeEndpointParts(config: Config, shared: SharedParts): Promise<EndpointParts> {
  const { stores, cookie, web, metrics, holdings, now } = shared;
  const { records, sessions, attempts } = stores;
  const { tenant, passwords: hashing, identity_providers: providers, api_keys: keys } = config;
  const { audit } = shared.auditTrail;
  const cookies = createRefreshCookies({ secrets: shared.keys, tenant, name: cookie.name });
  const passwords = createPasswordHasher({
    ...hashing,
    memoryBytes: hashing.memory,
    storedHashes: () => records.passwordHashKinds(),
  });
  const times = sessionTimesOf(config);
  const onCredentialEnded = (credentialId: string) => shared.streams.endOf(credentialId);
  const maxPerUser = config.sessions.max_per_user;
  const signIn = new SignIn({
    sessions,
    audit,
    onSessionEnded: onCredentialEnded,
    tokens: shared.tokens,
    times,
    cookies,
    cookie,
    holdings,
    maxPerUser,
  });
  const limits = loginLimits(config);
  const throttle = createLoginThrottle(attempts, limits);
  return {
    records,
    sessions,
    times,
    tokens: shared.tokens,
    assertions: shared.assertions,
    catalogue: shared.catalogue,
    holdings,
    cookie,
    cookies,
    forgetting: [cookie, ...(web === null ? [] : [web.area.cookie])].flatMap((each) => [
      'Set-Cookie',
      setCookie(each, '', 0),
    ]),
    cursors: createCursors(await records.secret('cursor', randomBytes(cursorSecretBytes))),
    passwords,
    minPasswordLength: hashing.min_length,
    login: new PasswordSignIn({ records, passwords, throttle, signIn, audit, now }),
    signIn,
    throttle,
    tokenThrottles: {
      bootstrap: createAddressThrottle('bootstrap', attempts, limits),
      invitation: createAddressThrottle('invitation', attempts, limits),
    },
    bootstrapToken: config.bootstrap.token ?? null,
    keyPrefix: keys.prefix,
    describedScopes: describedScopes(config),
    keyRoutes: keyRoutes(config),
    maxKeyLifetimeMs: keys.max_lifetime ?? null,
    issuers: new Map(Object.entries(providers).map(([name, { issuer }]) => [name, issuer])),
    providerOf: (issuer) => providerOf(config, issuer),
    isKnownOrigin: shared.isKnownOrigin,
    audit,
    refreshes: metrics.refreshes,
    random: randomBytes,
    now,
    onCredentialEnded,
  };
}

/** The catalogue with its descriptions; the configuration may describe built-in scopes in words of its own. */
function describedScopes(config: Config): readonly DescribedScope[] {
  return catalogueOf(config).map((scope) => ({
    scope,
    description: config.scopes[scope] ?? builtInScopes[scope]!,
    built_in: Object.hasOwn(builtInScopes, scope),
  }));
}

/** The routes that accept keys; public routes need none. */
function keyRoutes({ hosts = [], routes }: Config): readonly KeyRoute[] {
  const origins = new Map(hosts.map((origin) => [nameOfOrigin(origin), origin]));
  return routes
    .filter((route) => !route.public && route.accept.includes('api_key'))
    .map(({ host, exact, prefix, scopes }) => ({
      ...(host !== undefined && { origin: origins.get(host)! }),
      path: exact ?? prefix!,
      exact: exact !== undefined,
      scopes: Array.isArray(scopes) ? { '*': scopes } : scopes,
    }));
}
