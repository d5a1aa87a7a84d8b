import type { ReadFile } from '../config/configured-files.ts';
import type { Config } from '../config/sections/schema.ts';
import { catalogueOf } from '../config/values/scope-names.ts';
import { createHoldings } from '../credentials/holdings.ts';
import { createIsProviderOAuthPath } from '../endpoints/provider-paths.ts';
import { createServeEndpoint } from '../endpoints/serve-endpoint.ts';
import {
  hostStartCookiePrefix,
  pageStartCookiePrefix,
  startCookiePrefix,
} from '../endpoints/start-cookies.ts';
import type { CookieAttributes, OwnCookies } from '../http/cookies.ts';
import { type Cors, createCors } from '../http/cors.ts';
import type { Exchange } from '../http/exchange.ts';
import { createKnownOrigins } from '../http/foreign-page.ts';
import { hstsFields } from '../http/hsts.ts';
import { createFindOtherName } from '../http/other-name.ts';
import { createReplies, type Replies } from '../http/reply.ts';
import { createForward } from '../proxy/create-forward.ts';
import type { Forward } from '../proxy/forward-options.ts';
import { prepareKeys } from '../runtime/key-rotation.ts';
import { traceForward } from '../runtime/spans.ts';
import { composeAssertions } from './assertions.ts';
import { type BrowserParts, composeBrowser } from './browser.ts';
import { composeCallers } from './callers.ts';
import { composeEndpoints } from './endpoints.ts';
import { composeDecisions } from './forward-auth.ts';
import { Gateway } from './gateway.ts';
import { headerRules } from './header-rules.ts';
import type { LastingParts } from './lasting-parts.ts';
import { composeNamedHosts } from './named-hosts.ts';
import { consoleHostOf, hostGuardOf, ownOrigins } from './own-origins.ts';
import { composeRoutes } from './routes.ts';

/** Time limit for the whole body of a request to one of Postern's own endpoints, ms. */
const ownBodyTimeoutMs = 30_000;

/** Rules of own endpoints for credentials, and those of the sign-out, where other schemes are ignored. */
const ofEndpoints = { isPublic: false, passesAuthorization: false };
const ofSignOut = { isPublic: true, passesAuthorization: false };

/** Builds the gateway of a configuration. Rejects if a file that the configuration names can't be used. */
export async function composeGateway(
  config: Config,
  lasting: LastingParts,
  readFile: ReadFile,
): Promise<Gateway> {
  const { streams, log, via } = lasting;
  const catalogue: ReadonlySet<string> = new Set(catalogueOf(config));
  const holdings = createHoldings(catalogue, config.identity_providers);
  const cookie = refreshCookie(config);
  const isConsoleHost = consoleHostOf(config);
  const cors = createCors(config.cors, isConsoleHost ?? undefined);
  const isKnownOrigin = createKnownOrigins(ownOrigins(config), cors);
  await prepareKeys(config, lasting.keys);
  const assertions = composeAssertions(config, lasting);
  const callers = await composeCallers(config, lasting, holdings, isKnownOrigin);
  const { authenticate, heldNow } = callers;
  const browser = await composeBrowser(config, { ...lasting, ...callers, readFile, isKnownOrigin, cors });
  noteCookies(config, cookie, browser.web, lasting);
  const onInternalError = (error: unknown, exchange: Exchange) =>
    log.error('internal error', { err: error, request_id: exchange.id });
  const replies = createReplies({
    realm: config.tenant,
    cors,
    fieldsOn: browser.fieldsOn,
    everywhere: config.listen.hsts ? hstsFields : [],
    insteadOf: browser.insteadOf,
    findOtherName: createFindOtherName(ownOrigins(config)),
    onInternalError,
  });
  const own = await composeEndpoints(config, {
    ...lasting,
    tokens: callers.tokens,
    assertions,
    catalogue,
    holdings,
    cookie,
    isKnownOrigin,
    web: browser.web,
  });
  const echoPage = lasting.showsEchoPage ? browser.web?.echoPage : undefined;
  const routes = await composeRoutes(config, { ...lasting, readFile, assertions }, echoPage);
  return new Gateway({
    judging: {
      cors,
      own: own.routes,
      routes: routes.table,
      hosts: composeNamedHosts(config, routes.tablesOfHosts, own.routesOfHosts),
      isConsoleHost,
      assertNoServiceWorker: browser.assertNoServiceWorker,
    },
    cors,
    own,
    serveEndpoint: createServeEndpoint({
      authenticate: (exchange, isPublic) => authenticate(exchange, isPublic ? ofSignOut : ofEndpoints),
      heldNow,
      openRequests: streams,
      isProviderOAuthPath: createIsProviderOAuthPath(config.api_path),
      replies,
      body: { maxBytes: config.limits.own_body, timeoutMs: ownBodyTimeoutMs },
    }),
    routes,
    authenticate,
    authenticateBrowser: browser.authenticateBrowser,
    browserCookieNames: browser.web?.cookieNames ?? null,
    forward: composeForward(config, lasting, cors, replies),
    replies,
    decisions: composeDecisions(config, {
      headerRules: headerRules(config),
      ownCookies: ownCookies(lasting),
      assertions,
      authenticate,
      browser,
      onInternalError,
    }),
    heldNow,
    assertionKeys: assertions.published,
    config,
    watched: {
      upstreams: routes.upstreams,
      activeSessions: callers.activeSessions,
      passwordHashes: own.passwordHashes,
    },
    via,
    assertHost: hostGuardOf(config),
    log,
  });
}

/** Records the names of this configuration's own cookies, which no upstream may see or set from now on. */
function noteCookies(
  config: Config,
  { name }: CookieAttributes,
  web: BrowserParts['web'],
  { cookieNames, startCookiePrefixes }: LastingParts,
): void {
  cookieNames.add(name);
  startCookiePrefixes.add(startCookiePrefix(name));
  if (web === null) return;
  cookieNames.add(web.area.cookie.name);
  if (config.hosts !== undefined) {
    cookieNames.add(web.area.hostCookie.name);
    startCookiePrefixes.add(hostStartCookiePrefix(web.area.hostCookie));
  }
  for (const origin of ownOrigins(config)) startCookiePrefixes.add(pageStartCookiePrefix(name, origin));
}

function composeForward(config: Config, lasting: LastingParts, cors: Cors, replies: Replies): Forward {
  const { streams, tracing } = lasting;
  const forward = createForward({
    streams,
    listsRemoved: ['trace', 'debug'].includes(config.log.level),
    via: lasting.via,
    ownCookies: ownCookies(lasting),
    ownsCors: cors.enabled,
    hasHsts: config.listen.hsts,
    dropsServiceWorkerScope: config.web?.service_workers === 'refuse',
    corsHeaders: (exchange) => cors.responseHeaders(exchange),
    refuse: (exchange, error) => replies.refuse(exchange, error),
  });
  return traceForward(forward, tracing);
}

/** Postern's own cookies, which no upstream sees or sets. */
function ownCookies({ cookieNames, startCookiePrefixes }: LastingParts): OwnCookies {
  return { names: [...cookieNames], prefixes: [...startCookiePrefixes] };
}

function refreshCookie({ base_url, sessions: { cookie } }: Config): CookieAttributes {
  return {
    name: cookie.name,
    path: cookie.path,
    domain: cookie.domain ?? null,
    secure: cookie.secure === 'auto' ? base_url.startsWith('https:') : cookie.secure,
    sameSite: cookie.same_site,
  };
}
