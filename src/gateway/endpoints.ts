import type { Config } from '../config/sections/schema.ts';
import type { WorkLoad } from '../credentials/work-queue.ts';
import {
  type AnyEndpoint,
  createEndpoint,
  type EndpointDefinition,
  type Guard,
} from '../endpoints/endpoint.ts';
import type { EndpointParts } from '../endpoints/endpoint-parts.ts';
import { redeemInvitation } from '../endpoints/redeem-invitation.ts';
import { createOwnRoutes, type OwnRoutes } from '../endpoints/routes.ts';
import { administrationEndpoints, credentialEndpoints } from '../endpoints/table.ts';
import { optionalEndpointAt, ownAreas } from '../rules/own-areas.ts';
import { composeEndpointParts, type SharedParts } from './endpoint-parts.ts';
import type { HostPages } from './host-pages.ts';
import type { ProviderEndpoints } from './identity-providers.ts';
import type { WebEndpoints } from './web-endpoints.ts';

/** The endpoints that Postern serves itself. */
export interface OwnEndpoints {
  readonly routes: OwnRoutes;
  /** The paths that Postern serves on each named host; undefined without pages. */
  readonly routesOfHosts: OwnRoutes | undefined;
  /** Called for each request that is refused before it has an endpoint or a route; undefined: no page needs to know. */
  readonly onRefused: WebEndpoints['onRefused'];
  /** Numbers of password hashes that are being computed and that are waiting. */
  passwordHashes(): WorkLoad;
  close(): Promise<void>;
}

/** Builds the endpoints that Postern serves itself. */
export async function composeEndpoints(config: Config, shared: SharedParts): Promise<OwnEndpoints> {
  // Registers every method, so that each has a series before its first sign-in.
  for (const method of ['password', ...Object.keys(config.identity_providers)])
    shared.metrics.loginsBy(method);
  const parts = await composeEndpointParts(config, shared);
  const providers = await composeProviders(config, parts, shared);
  const api: AnyEndpoint[] = [
    ...providers.endpoints,
    ...[...credentialEndpoints, ...administrationEndpoints]
      .filter(({ path }) => isServed(path, config))
      .map(
        (definition) =>
          createEndpoint(definition as EndpointDefinition<Guard>, parts, config.api_path) as AnyEndpoint,
      ),
  ];
  const pages = await composePages(config, parts, shared, api, providers);
  const places = { apiPath: config.api_path, webPath: config.web?.path };
  const areas = ownAreas((name) => config.endpoints[name] === 'upstream', places);
  return {
    routes: createOwnRoutes([...api, ...pages.endpoints], areas),
    routesOfHosts:
      places.webPath === undefined ? undefined : createOwnRoutes(pages.ofHosts, [places.webPath]),
    onRefused: pages.onRefused,
    passwordHashes: parts.passwords.load,
    close: () => providers.close(),
  };
}

/** True if Postern serves an endpoint, by the path in its definition, according to `endpoints`. */
function isServed(path: string, { endpoints }: Config): boolean {
  // Served even where an upstream serves users, because the command line invites users, too.
  if (path === redeemInvitation.path) return endpoints.users !== 'off';
  const optional = optionalEndpointAt(path);
  return optional === undefined || endpoints[optional] === 'own';
}

/** Builds the pages; their code is loaded only if the configuration has `web`. */
async function composePages(
  config: Config,
  parts: EndpointParts,
  shared: SharedParts,
  api: readonly AnyEndpoint[],
  providers: ProviderEndpoints,
): Promise<WebEndpoints> {
  if (shared.web === null) return { endpoints: [], ofHosts: [] };
  const { webEndpoints } = await import('./web-endpoints.ts');
  const hosts = config.hosts === undefined ? null : await composeHosts(config, parts, shared, shared.web);
  return webEndpoints(config, parts, { ...shared.web, log: shared.log, api, providers, hosts });
}

/** Builds the pages of named hosts; their code is loaded only if the configuration has `hosts`. */
async function composeHosts(
  ...parts: Parameters<typeof import('./host-pages.ts').composeHostPages>
): Promise<HostPages> {
  const { composeHostPages } = await import('./host-pages.ts');
  return composeHostPages(...parts);
}

/** Builds sign-in through identity providers; its code is loaded only if some are configured. */
async function composeProviders(
  config: Config,
  parts: EndpointParts,
  shared: SharedParts,
): Promise<ProviderEndpoints> {
  if (Object.keys(config.identity_providers).length === 0)
    return { endpoints: [], onPages: [], onConsole: [], async close() {} };
  const { composeIdentityProviders } = await import('./identity-providers.ts');
  return composeIdentityProviders(config, parts, shared);
}
