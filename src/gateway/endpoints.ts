import type { Config } from '../config/sections/schema.ts';
import type { WorkLoad } from '../credentials/work-queue.ts';
import type { AnyEndpoint } from '../endpoints/endpoint.ts';
import { createAssertionJwks, createJwks } from '../endpoints/jwks.ts';
import { createLogin } from '../endpoints/login.ts';
import { createLogout } from '../endpoints/logout.ts';
import { createRefresh } from '../endpoints/refresh.ts';
import { createOwnRoutes, type OwnRoutes } from '../endpoints/routes.ts';
import { createSelfPassword } from '../endpoints/self-password.ts';
import type { Stores } from '../runtime/stores.ts';
import { composeAdministration } from './administration.ts';
import type { EndpointParts } from './endpoint-parts.ts';
import type { ProviderEndpoints, SignInParts } from './identity-providers.ts';
import { type ComposedSignIns, composeSignIns } from './sign-ins.ts';
import { tokenEndpoints } from './token-endpoints.ts';
import type { WebEndpointParts } from './web-endpoints.ts';

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
  const { stores, cookie, metrics, onCredentialEnded } = parts;
  // Every method at once, so that each has a series before its first sign-in.
  for (const method of ['password', ...Object.keys(config.identity_providers)]) metrics.loginsBy(method);
  const signIns = { ...parts, ...stores, ...composeSignIns(config, parts) };
  const { cookies, passwords } = signIns;
  const providers = await composeProviders(config, { ...signIns, stores });
  const api: AnyEndpoint[] = [
    ...providers.endpoints,
    createLogin(signIns.login, signIns),
    createRefresh({ ...signIns, refreshes: metrics.refreshes, onSessionEnded: onCredentialEnded }),
    createLogout({ ...signIns, cookies, cookieName: cookie.name }),
    ...(await composeAdministration(config, { ...signIns, stores })),
    ...tokenEndpoints(config, { ...signIns, stores }),
    ...selfEndpoints(config, signIns),
    createJwks(parts.tokens),
    createAssertionJwks(parts.assertions),
  ];
  const pages = await composePages(
    config,
    {
      ...signIns,
      providers: providers.onPages,
      consoleProviders: providers.onConsole,
    },
    api,
  );
  return {
    routes: createOwnRoutes([...api, ...pages], config.endpoints, config.web?.path),
    passwordHashes: passwords.load,
    close: () => providers.close(),
  };
}

/** The parts of sign-in and of everything else, side by side. */
type Composed = EndpointParts & Stores & ComposedSignIns;

/** What callers do about their own account. */
function selfEndpoints(config: Config, parts: Composed): AnyEndpoint[] {
  if (config.endpoints.self_password !== 'own') return [];
  return [createSelfPassword({ ...parts, minPasswordLength: config.passwords.min_length })];
}

/** The pages for people are loaded only where they are configured. */
async function composePages(
  config: Config,
  parts: Composed & Pick<WebEndpointParts, 'providers' | 'consoleProviders'>,
  api: readonly AnyEndpoint[],
): Promise<readonly AnyEndpoint[]> {
  const { web, cookie, cookies, times } = parts;
  if (web === null) return [];
  const { webEndpoints } = await import('./web-endpoints.ts');
  const { openApiDocument } = await import('../openapi/document.ts');
  return webEndpoints(config, {
    ...parts,
    ...web,
    api,
    sessionStore: parts.sessions,
    document: openApiDocument,
    refresh: { name: cookie.name, cookies },
    absoluteLifetimeMs: times.absoluteLifetimeMs,
  });
}

/** Sign-in through providers is loaded only where some are configured. */
async function composeProviders(config: Config, parts: SignInParts): Promise<ProviderEndpoints> {
  if (Object.keys(config.identity_providers).length === 0)
    return { endpoints: [], onPages: [], onConsole: [], async close() {} };
  const { composeIdentityProviders } = await import('./identity-providers.ts');
  return composeIdentityProviders(config, parts);
}
