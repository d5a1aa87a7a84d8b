import { createApiKeyAuthenticator } from '../authenticate/api-key.ts';
import { createAuthenticate } from '../authenticate/authenticate.ts';
import { createBearerTokenAuthenticator } from '../authenticate/bearer-token.ts';
import { createHeldNow } from '../authenticate/held-now.ts';
import type { Config } from '../config/schema.ts';
import { catalogueOf } from '../config/scope-names.ts';
import { createAccessTokens } from '../credentials/access-token.ts';
import { createHoldings } from '../credentials/holdings.ts';
import type { HeldNow, Principal } from '../credentials/principal.ts';
import type { RecentUse } from '../credentials/recent-use.ts';
import { loadSigningKeys } from '../credentials/signing-keys.ts';
import { createVerifiedTokens } from '../credentials/verified-tokens.ts';
import { isProviderPath } from '../endpoints/provider-paths.ts';
import { createServeEndpoint } from '../endpoints/serve-endpoint.ts';
import { startCookiePrefix } from '../endpoints/start-cookies.ts';
import type { CookieAttributes } from '../http/cookies.ts';
import { createCors, isPreflight } from '../http/cors.ts';
import type { Exchange } from '../http/exchange.ts';
import { createKnownOrigins } from '../http/foreign-page.ts';
import { createPassedMeaning, type HeaderRules } from '../http/header-names.ts';
import { createReplies } from '../http/reply.ts';
import { assertDeclaredSize } from '../http/request-body.ts';
import { assertKnownExpectation, assertMethodIsServed, assertUnambiguousHead } from '../http/request-head.ts';
import { assertUnambiguousTarget } from '../http/request-target.ts';
import type { Log } from '../log/log.ts';
import { authorise } from '../proxy/authorise.ts';
import { createForward } from '../proxy/forward.ts';
import type { OpenStreams } from '../proxy/open-streams.ts';
import type { Route } from '../proxy/route-table.ts';
import type { Tracing } from '../tracing/tracing.ts';
import { composeEndpoints } from './endpoints.ts';
import type { GatewayMetrics, WatchedGateway } from './metrics.ts';
import { composeRoutes } from './routes.ts';
import { traceAuthenticate, traceForward } from './spans.ts';
import type { Stores } from './stores.ts';

/** What outlives a configuration: a reload makes another gateway of the same parts. */
export interface LastingParts {
  readonly stores: Stores;
  readonly recentUse: RecentUse;
  /** Every name that the refresh cookie has had since the start: browsers still send the earlier ones. */
  readonly cookieNames: Set<string>;
  readonly streams: OpenStreams;
  readonly log: Log;
  readonly metrics: GatewayMetrics;
  /** Null: nothing is traced. */
  readonly tracing: Tracing | null;
  /** The clock, epoch ms. */
  readonly now: () => number;
}

/** All that is made of one configuration: answers every exchange it is given. */
export interface Gateway extends WatchedGateway {
  /** Answers, or forwards; never throws. */
  handle(exchange: Exchange): void;
  /** Refuses what the listener judges before anybody else sees it. */
  refuse(exchange: Exchange, error: unknown): void;
  readonly heldNow: HeldNow;
  /** It is given no more exchanges: once the last is over, closes what it had open. */
  retire(): void;
  /** Closes what it has open, at once. */
  close(): Promise<void>;
}

/** How long the whole body of a request to an own endpoint may take. */
const ownBodyTimeoutMs = 30_000;

/** Builds every part that depends on the configuration. Throws when a file it names can't be used. */
export async function composeGateway(config: Config, lasting: LastingParts): Promise<Gateway> {
  const { tenant } = config;
  const { stores, recentUse, streams, log, metrics, tracing, now } = lasting;
  const { records, sessions } = stores;
  const catalogue: ReadonlySet<string> = new Set(catalogueOf(config));
  const holdings = createHoldings(catalogue, config.identity_providers);
  const tokens = createAccessTokens({
    issuer: config.base_url,
    keys: await loadSigningKeys(records, config.tokens.algorithm, now()),
    loadKeys: async () => records.signingKeys(),
    algorithm: config.tokens.algorithm,
    lifetimeMs: config.tokens.access_lifetime,
    now,
  });
  const verified = createVerifiedTokens<Principal>(tokens, { now });
  const cookie = refreshCookie(config);
  const cookieNames = [...lasting.cookieNames.add(cookie.name)];
  const cors = createCors(config.cors.origins);
  const isKnownOrigin = createKnownOrigins(config.base_url, cors);
  const judge = createAuthenticate({
    bearerToken: createBearerTokenAuthenticator({ tokens: verified, sessions, records, holdings, tenant }),
    apiKey: createApiKeyAuthenticator({
      records,
      recentUse,
      holdings,
      tenant,
      verifications: metrics.keyVerifications,
      now,
    }),
    takesBearerKeys: config.api_keys.bearer,
    isKnownOrigin,
  });
  const authenticate = traceAuthenticate(judge, tracing);
  const replies = createReplies({
    realm: tenant,
    cors,
    hidesReferrer: isProviderPath,
    onInternalError: (error, exchange) =>
      log.error('internal error', { err: error, request_id: exchange.id }),
  });
  const own = await composeEndpoints(config, {
    stores,
    tokens,
    recentUse,
    catalogue,
    holdings,
    cookie,
    isKnownOrigin,
    log,
    metrics,
    tracing,
    now,
    onCredentialEnded: (credentialId) => streams.endOf(credentialId),
  });
  const routes = await composeRoutes(config);
  const send = createForward({
    streams,
    passedMeaning: createPassedMeaning(headerRules(config)),
    ownCookies: { names: cookieNames, prefixes: cookieNames.map(startCookiePrefix) },
    ownsCors: cors.enabled,
    corsHeaders: (exchange) => cors.responseHeaders(exchange.head),
    refuse: (exchange, error) => replies.refuse(exchange, error),
  });
  const forward = traceForward(send, tracing);
  const targetRules = {
    passSemicolons: config.paths.semicolons === 'pass',
    passEncodedSlashes: config.paths.encoded_slashes === 'pass',
  };
  const heldNow = createHeldNow({ records, sessions, holdings, tenant, now });
  const serveEndpoint = createServeEndpoint({
    authenticate,
    heldNow,
    openRequests: streams,
    replies,
    body: { maxBytes: config.limits.own_body, timeoutMs: ownBodyTimeoutMs },
  });
  /** Exchanges that are not over. */
  let open = 0;
  let isRetired = false;

  /** Own route? Guard, then answer. Otherwise: refuse what is ambiguous, route, authenticate, authorise, forward. */
  function handle(exchange: Exchange): void {
    open += 1;
    exchange.onOver = onOver;
    try {
      assertUnambiguousHead(exchange.head, exchange.minor);
      assertMethodIsServed(exchange.method);
      assertKnownExpectation(exchange.head, exchange.minor);
      assertUnambiguousTarget(exchange.target, exchange.pathEnd, targetRules);
      exchange.targetIsGood = true;
      const preflight = isPreflight(exchange.method, exchange.head);
      const match = own.routes.find(exchange.path);
      if (preflight && (cors.enabled || match !== undefined)) respondToPreflight(exchange);
      else if (match !== undefined) void serveEndpoint(exchange, match);
      else passOn(exchange, preflight);
    } catch (error) {
      replies.refuse(exchange, error);
    }
  }

  function respondToPreflight(exchange: Exchange): void {
    replies.send(exchange, { status: 204, headers: cors.preflightHeaders(exchange.head) });
  }

  function passOn(exchange: Exchange, preflight: boolean): void {
    const route = routes.table.find(exchange.path);
    exchange.route = route.label;
    if (preflight && route.passesPreflights) {
      forward(exchange, route, null, true);
      return;
    }
    const principal = authenticate(exchange.head, route.isPublic);
    if (principal instanceof Promise)
      principal
        .then((found) => admit(exchange, route, found))
        .catch((error) => replies.refuse(exchange, error));
    else admit(exchange, route, principal);
  }

  function admit(exchange: Exchange, route: Route, principal: Principal | null): void {
    exchange.caller = principal;
    authorise(route, exchange.method, principal);
    assertDeclaredSize(exchange, route.maxBodyBytes);
    forward(exchange, route, principal);
  }

  function onOver(): void {
    open -= 1;
    if (isRetired && open === 0) closeRetired();
  }

  function closeRetired(): void {
    close().catch((error) => log.error('a retired configuration could not be closed', { err: error }));
  }

  async function close(): Promise<void> {
    await own.close();
    await routes.close();
  }

  return {
    handle,
    refuse: (exchange, error) => replies.refuse(exchange, error),
    heldNow,
    upstreams: routes.upstreams,
    activeSessions: verified.sessions,
    passwordHashes: own.passwordHashes,
    retire() {
      isRetired = true;
      if (open === 0) closeRetired();
    },
    close,
  };
}

function headerRules({ headers, upstreams }: Config): HeaderRules {
  // No client may say on any route what one upstream believes of Postern alone.
  const identity = Object.values(upstreams).flatMap((upstream) => Object.keys(upstream.identity_headers));
  return {
    passOddNames: headers.odd_names === 'pass',
    passMethodOverride: headers.method_override === 'pass',
    dropped: [...headers.drop, ...identity],
  };
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
