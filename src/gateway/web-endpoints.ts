import { randomBytes } from 'node:crypto';
import type { Config } from '../config/sections/schema.ts';
import { bootstrap } from '../endpoints/bootstrap.ts';
import type { AnyEndpoint, Endpoint, EndpointDefinition, Guard } from '../endpoints/endpoint.ts';
import type { EndpointParts } from '../endpoints/endpoint-parts.ts';
import { redeemInvitation } from '../endpoints/redeem-invitation.ts';
import { selfPassword } from '../endpoints/self-password.ts';
import { createApiStartCookies, createPageStartCookies } from '../endpoints/start-cookies.ts';
import type { RefusedRequest } from '../http/exchange.ts';
import type { Log } from '../log/log.ts';
import { openApiDocument } from '../openapi/document.ts';
import { atApiPath } from '../rules/own-areas.ts';
import { createIsActivationOpen } from '../web/activation-open.ts';
import { BrowserSessions } from '../web/browser-sessions.ts';
import { createActivationPage } from '../web/endpoints/activation.ts';
import { createConsole } from '../web/endpoints/console.ts';
import { createAssetFiles, createDocumentFile } from '../web/endpoints/files.ts';
import { createHome } from '../web/endpoints/home.ts';
import { createInvitationPage } from '../web/endpoints/invitation.ts';
import { createPasswordPage } from '../web/endpoints/own-password.ts';
import { createProviderPages } from '../web/endpoints/provider.ts';
import { createRenderSignIn, createWaysToSignIn } from '../web/endpoints/render-sign-in.ts';
import { createSignInPage } from '../web/endpoints/sign-in.ts';
import { createSignOut } from '../web/endpoints/sign-out.ts';
import { createOfferedProviders } from '../web/page-provider.ts';
import type { SharedParts } from './endpoint-parts.ts';
import type { HostPages } from './host-pages.ts';
import type { ProviderEndpoints } from './identity-providers.ts';

/** The pages for people. */
export interface WebEndpoints {
  readonly endpoints: readonly Endpoint<'open'>[];
  /** Pages of each named host. */
  readonly ofHosts: readonly Endpoint<'open'>[];
  /** Called for each request that is refused before it has an endpoint or a route; undefined: there are no named hosts. */
  readonly onRefused?: (request: RefusedRequest) => void;
}

/** Further parts of the pages. */
interface PageParts extends NonNullable<SharedParts['web']> {
  readonly log: Log;
  readonly api: readonly AnyEndpoint[];
  readonly providers: ProviderEndpoints;
  /** Null: there are no named hosts. */
  readonly hosts: HostPages | null;
}

/** Builds the pages for people, but not a page whose form calls an endpoint that `api` lacks. */
export function webEndpoints(
  config: Config,
  parts: EndpointParts,
  { area, webCookie, log, api, providers, hosts }: PageParts,
): WebEndpoints {
  const { onPages, onConsole } = providers;
  const { api_path: apiPath } = config;
  const { records, cookie, cookies, minPasswordLength } = parts;
  const startCookiesAt = (host: string) => [
    createPageStartCookies(cookie, area.originAt(host), area.path),
    createApiStartCookies(cookie, apiPath),
  ];
  const sessions = new BrowserSessions({
    area,
    webCookie,
    ending: parts,
    refresh: { name: cookie.name, cookies },
    forgetting: parts.forgetting,
    startCookiesAt,
    absoluteLifetimeMs: parts.times.absoluteLifetimeMs,
    now: parts.now,
  });
  const login = config.web?.password === false ? null : parts.login;
  const offered = createOfferedProviders(onPages, log);
  const waysOf = createWaysToSignIn(area, login !== null, offered);
  const renderSignIn = createRenderSignIn(area, waysOf);
  const common = {
    area,
    sessions,
    records,
    login,
    minPasswordLength,
    providers: onPages,
    waysOf,
    renderSignIn,
    now: parts.now,
  };
  const newState = () => randomBytes(16).toString('base64url');
  const called = <G extends Guard>({ method, path }: EndpointDefinition<G>) =>
    api.find((endpoint) => endpoint.method === method && endpoint.path === atApiPath(path, apiPath)) as
      | Endpoint<G>
      | undefined;
  const activate = called(bootstrap);
  const redeem = called(redeemInvitation);
  const change = called(selfPassword);
  const files = createAssetFiles(area);
  const endpoints = [
    createHome({ area, sessions, records, hasPasswordPage: change !== undefined }),
    ...createSignInPage({
      ...common,
      addressAtHost(sessionId, destination) {
        if (hosts === null) throw new TypeError('there are no named hosts');
        return hosts.entries.addressOf(sessionId, destination);
      },
      isActivationOpen: activate === undefined ? async () => false : createIsActivationOpen(records),
    }),
    ...onPages.flatMap((provider, index) => {
      const atConsole = onConsole[index] ?? provider;
      const providerAt = (host: string) => (area.originAt(host) === config.base_url ? provider : atConsole);
      return createProviderPages(provider.name, providerAt, common);
    }),
    ...createSignOut({ ...common, newState }),
    ...createConsole({
      area,
      sessions,
      sessionStore: parts.sessions,
      records,
      minPasswordLength,
      baseUrl: config.base_url,
      apiPath,
      served: Object.entries(config.endpoints).flatMap(([name, by]) => (by === 'own' ? [name] : [])),
      maxKeyLifetimeMs: parts.maxKeyLifetimeMs,
      providers: Object.fromEntries(onPages.map(({ name, label }) => [name, label])),
    }),
    ...(activate === undefined ? [] : createActivationPage({ ...common, activate })),
    ...(redeem === undefined ? [] : createInvitationPage({ ...common, redeem })),
    ...(change === undefined ? [] : createPasswordPage({ ...common, change })),
    files,
    createDocumentFile(area.path, () => openApiDocument(apiPath)),
  ];
  if (hosts === null) return { endpoints, ofHosts: [] };
  const signOutThere = createSignOut({ ...common, sessions: hosts.sessions, newState });
  return {
    endpoints,
    ofHosts: [files, ...hosts.endpoints, ...signOutThere],
    onRefused: (request) => hosts.entries.spendRefused(request),
  };
}
