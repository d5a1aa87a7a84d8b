import { randomBytes } from 'node:crypto';
import type { Config } from '../config/schema.ts';
import type { AccessTokens } from '../credentials/access-token.ts';
import type { Holdings } from '../credentials/holdings.ts';
import { createPasswordHasher } from '../credentials/passwords.ts';
import type { RecentUse } from '../credentials/recent-use.ts';
import { createRefreshCookies } from '../credentials/refresh-cookie.ts';
import { createLoginThrottle, type LoginThrottle } from '../credentials/throttle.ts';
import type { WorkLoad } from '../credentials/work-queue.ts';
import { createAudit, reportingLogins } from '../endpoints/audit.ts';
import { createChangeAudit } from '../endpoints/change-audit.ts';
import type { AnyEndpoint } from '../endpoints/endpoint.ts';
import { createJwks } from '../endpoints/jwks.ts';
import { createLogin } from '../endpoints/login.ts';
import { createLogout } from '../endpoints/logout.ts';
import { createRefresh } from '../endpoints/refresh.ts';
import { createOwnRoutes, type OwnRoutes } from '../endpoints/routes.ts';
import { createSelfPassword } from '../endpoints/self-password.ts';
import { createSignIn } from '../endpoints/sign-in.ts';
import type { CookieAttributes } from '../http/cookies.ts';
import type { IsKnownOrigin } from '../http/foreign-page.ts';
import type { Log } from '../log/log.ts';
import type { Tracing } from '../tracing/tracing.ts';
import { composeAdministration } from './administration.ts';
import type { AdministrationParts } from './administration-parts.ts';
import type { AuditTrail } from './audit-trail.ts';
import type { ProviderEndpoints, SignInParts } from './identity-providers.ts';
import { loginLimits } from './login-limits.ts';
import type { GatewayMetrics } from './metrics.ts';
import { sessionTimesOf } from './session-times.ts';
import type { Stores } from './stores.ts';
import { tokenEndpoints } from './token-endpoints.ts';

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
  readonly auditTrail: AuditTrail;
  readonly metrics: Pick<GatewayMetrics, 'refreshes' | 'loginsBy'>;
  readonly tracing: Tracing | null;
  readonly now: () => number;
  /** Ends everything that a session or key has in flight. */
  readonly onCredentialEnded: (credentialId: string) => void;
}

const secretBytes = 32;

/** Everything that Postern serves itself. */
export interface OwnEndpoints {
  readonly routes: OwnRoutes;
  /** How many password hashes are running and waiting. */
  passwordHashes(): WorkLoad;
  /** Ends the calls to identity providers. */
  close(): Promise<void>;
}

/** Builds everything that Postern serves itself. */
export async function composeEndpoints(config: Config, parts: EndpointParts): Promise<OwnEndpoints> {
  const { stores, cookie, isKnownOrigin, metrics, now, onCredentialEnded } = parts;
  const { records, sessions, attempts } = stores;
  // Every method at once, so that each has a series before its first sign-in.
  for (const method of ['password', ...Object.keys(config.identity_providers)]) metrics.loginsBy(method);
  const auditLog = reportingLogins(parts.log, (method, outcome) => {
    metrics.loginsBy(method)[outcome]++;
  });
  const audit = createAudit(auditLog, parts.auditTrail.queue, now);
  const changeAudit = createChangeAudit(auditLog);
  const cookies = createRefreshCookies({
    secret: await records.secret('cookie', randomBytes(secretBytes)),
    tenant: config.tenant,
    name: cookie.name,
  });
  const passwords = createPasswordHasher({
    ...config.passwords,
    memoryBytes: config.passwords.memory,
    storedHashes: () => records.passwordHashKinds(),
  });
  const times = sessionTimesOf(config);
  const signIn = createSignIn({
    ...parts,
    sessions,
    times,
    cookies,
    maxPerUser: config.sessions.max_per_user,
    audit,
    onSessionEnded: onCredentialEnded,
  });
  const throttle = createLoginThrottle(attempts, loginLimits(config));
  const providers = await composeProviders(config, { ...parts, signIn, audit, changeAudit });
  const administration = { ...parts, passwords, audit, changeAudit };
  const endpoints: AnyEndpoint[] = [
    ...providers.endpoints,
    createLogin({ ...parts, records, passwords, throttle, signIn, audit, changeAudit }),
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
      onSessionEnded: onCredentialEnded,
    }),
    createLogout({ sessions, records, cookies, cookie, audit, onSessionEnded: onCredentialEnded }),
    ...(await composeAdministration(config, administration)),
    ...tokenEndpoints(config, administration),
    ...selfEndpoints(config, administration, throttle),
    createJwks(parts.tokens),
  ];
  return {
    routes: createOwnRoutes(endpoints, config.endpoints),
    passwordHashes: passwords.load,
    close: () => providers.close(),
  };
}

/** What callers do about their own account. */
function selfEndpoints(config: Config, parts: AdministrationParts, throttle: LoginThrottle): AnyEndpoint[] {
  if (config.endpoints.self_password !== 'own') return [];
  const { records, sessions } = parts.stores;
  const minPasswordLength = config.passwords.min_length;
  return [createSelfPassword({ ...parts, records, sessions, throttle, minPasswordLength })];
}

/** Sign-in through providers is loaded only where some are configured. */
async function composeProviders(config: Config, parts: SignInParts): Promise<ProviderEndpoints> {
  if (Object.keys(config.identity_providers).length === 0) return { endpoints: [], async close() {} };
  const { composeIdentityProviders } = await import('./identity-providers.ts');
  return composeIdentityProviders(config, parts);
}
