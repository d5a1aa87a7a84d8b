import { randomBytes } from 'node:crypto';
import type { AddressInfo } from 'node:net';
import { createApiKeyAuthenticator } from './authenticate/api-key.ts';
import { createAuthenticate } from './authenticate/authenticate.ts';
import { createBearerTokenAuthenticator } from './authenticate/bearer-token.ts';
import { createHeldNow } from './authenticate/held-now.ts';
import { composeEndpoints } from './compose-endpoints.ts';
import { composeRoutes } from './compose-routes.ts';
import type { Config } from './config/schema.ts';
import { catalogueOf } from './config/scope-names.ts';
import { createAccessTokens } from './credentials/access-token.ts';
import type { Principal } from './credentials/principal.ts';
import { createRecentUse } from './credentials/recent-use.ts';
import { loadSigningKeys } from './credentials/signing-keys.ts';
import { createVerifiedTokens } from './credentials/verified-tokens.ts';
import { createAnswerOwn } from './endpoints/answer-own.ts';
import { watchCertificate } from './http/certificate-files.ts';
import { createTrustedProxies } from './http/client-address.ts';
import { createCors, isPreflight } from './http/cors.ts';
import type { Exchange } from './http/exchange.ts';
import { createManagementServer } from './http/management.ts';
import { createReplies } from './http/reply.ts';
import { assertDeclaredSize } from './http/request-body.ts';
import { assertKnownExpectation, assertMethodIsServed, assertUnambiguousHead } from './http/request-head.ts';
import { assertUnambiguousTarget } from './http/request-target.ts';
import { createPublicServer } from './http/server.ts';
import type { Log } from './log.ts';
import { createMetrics } from './metrics.ts';
import { openStores } from './open-stores.ts';
import { authorise } from './proxy/authorise.ts';
import { createForward } from './proxy/forward.ts';
import { createOpenStreams } from './proxy/open-streams.ts';
import type { Route } from './proxy/route-table.ts';

/** A gateway that serves. */
export interface Gateway {
  readonly address: AddressInfo;
  readonly managementAddress: AddressInfo;
  /** The activation token made by Postern while there is no user yet; null when there is none to show. */
  readonly bootstrapToken: string | null;
  /** Drains, writes out what is collected and closes the stores; durations are those of `shutdown`. */
  stop(): Promise<void>;
}

const flushIntervalMs = 60_000;
const pruneIntervalMs = 600_000;
const bootstrapTokenBytes = 24;

/** Builds every part of the gateway and starts serving. Throws when a store can't be opened or an address is taken. */
export async function startGateway(config: Config, log: Log, now: () => number = Date.now): Promise<Gateway> {
  const { tenant, limits } = config;
  const stores = await openStores(config, now, {
    onAway: (store, reason) => log.warn('store away', { store, reason }),
    onDeaf: (store, reason) => log.warn('store tells nothing', { store, reason }),
    onBack: (store) => log.info('store reached', { store }),
  });
  const { records, sessions } = stores;
  const catalogue: ReadonlySet<string> = new Set(catalogueOf(config));
  const tokens = createAccessTokens({
    issuer: config.base_url,
    keys: await loadSigningKeys(records, config.tokens.algorithm, now()),
    algorithm: config.tokens.algorithm,
    lifetimeMs: config.tokens.access_lifetime,
    now,
  });
  const recentUse = createRecentUse(records);
  const verified = createVerifiedTokens<Principal>(tokens, { now });
  const streams = createOpenStreams(createHeldNow({ records, sessions, catalogue, tenant, now }));
  const { cookie: cookieConfig } = config.sessions;
  const cookie = {
    name: cookieConfig.name,
    path: cookieConfig.path,
    domain: cookieConfig.domain ?? null,
    secure: cookieConfig.secure === 'auto' ? config.base_url.startsWith('https:') : cookieConfig.secure,
    sameSite: cookieConfig.same_site,
  };
  const cors = createCors(config.cors.origins);
  const authenticate = createAuthenticate({
    bearerToken: createBearerTokenAuthenticator({ tokens: verified, sessions, records, catalogue, tenant }),
    apiKey: createApiKeyAuthenticator({ records, recentUse, catalogue, tenant, now }),
    isKnownOrigin: (origin) => origin === config.base_url || cors.isAllowed(origin),
  });
  const replies = createReplies({
    realm: tenant,
    cors,
    onInternalError: (error, exchange) =>
      log.error('internal error', { err: error, request_id: exchange.id }),
  });
  const onCredentialEnded = (credentialId: string) => streams.endOf(credentialId);
  const metrics = createMetrics();
  const revocationSeen = metrics.histogram(
    'revocation_seen_seconds',
    'Time from the end of a session, in whichever process, until this one was told of it.',
    [0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5],
  );
  sessions.onEnded((id, afterMs) => {
    onCredentialEnded(id);
    revocationSeen(afterMs / 1000);
  });
  const own = await composeEndpoints(config, {
    stores,
    tokens,
    recentUse,
    catalogue,
    cookie,
    cors,
    log,
    now,
    onCredentialEnded,
  });
  const routes = await composeRoutes(config);
  metrics.gauge('open_streams', 'Authenticated requests in flight.', () => streams.size);
  metrics.gaugeBy(
    'upstream',
    'upstream_connections',
    'Connections to the upstream, free ones included.',
    () => routes.upstreams.map(({ name, open }) => [name, open]),
  );
  metrics.gaugeBy(
    'upstream',
    'upstream_waiting',
    'Requests that wait for a connection to the upstream.',
    () => routes.upstreams.map(({ name, waiting }) => [name, waiting]),
  );
  const forward = createForward({
    streams,
    ownCookies: [cookie.name, `${cookie.name}_login`],
    ownsCors: cors.enabled,
    corsHeaders: (exchange) => cors.answerHeaders(exchange.head),
    refuse: (exchange, error) => replies.refuse(exchange, error),
  });
  const targetRules = {
    passSemicolons: config.paths.semicolons === 'pass',
    passEncodedSlashes: config.paths.encoded_slashes === 'pass',
  };
  const answerOwn = createAnswerOwn({
    authenticate,
    replies,
    maxBodyBytes: limits.own_body,
  });

  /** Own route? Guard, then answer. Otherwise: refuse what is ambiguous, route, authenticate, authorise, forward. */
  function handle(exchange: Exchange): void {
    try {
      assertUnambiguousHead(exchange.head, exchange.minor);
      assertMethodIsServed(exchange.method);
      assertKnownExpectation(exchange.head, exchange.minor);
      assertUnambiguousTarget(exchange.target, exchange.pathEnd, targetRules);
      const preflight = isPreflight(exchange.method, exchange.head);
      const match = own.find(exchange.path);
      if (preflight && (cors.enabled || match !== undefined)) answerPreflight(exchange);
      else if (match !== undefined) void answerOwn(exchange, match);
      else passOn(exchange, preflight);
    } catch (error) {
      replies.refuse(exchange, error);
    }
  }

  function answerPreflight(exchange: Exchange): void {
    replies.send(exchange, { status: 204, headers: cors.preflightHeaders(exchange.head) });
  }

  /** A preflight whose answer is the upstream's goes there as nobody's: it never carries a credential. */
  function passOn(exchange: Exchange, preflight: boolean): void {
    const route = routes.table.find(exchange.path);
    exchange.route = route.label;
    const principal = preflight ? null : authenticate(exchange.head, route.isPublic);
    if (principal instanceof Promise)
      principal
        .then((found) => admit(exchange, route, found))
        .catch((error) => replies.refuse(exchange, error));
    else if (preflight) forward(exchange, route, null, true);
    else admit(exchange, route, principal);
  }

  function admit(exchange: Exchange, route: Route, principal: Principal | null): void {
    exchange.caller = principal;
    authorise(route, exchange.method, principal);
    assertDeclaredSize(exchange, route.maxBodyBytes);
    forward(exchange, route, principal);
  }

  function account(exchange: Exchange): void {
    exchange.onClose?.();
    const { method, path, route, outcome, caller } = exchange;
    const { status, bodyBytes } = exchange.answer;
    const durationMs = performance.now() - exchange.startedMs;
    metrics.requestDone(route, method, status, outcome, durationMs);
    log.access({
      method,
      path,
      route,
      status,
      durationMs,
      outcome,
      subject: caller === null ? '' : caller.userId,
      credentialKind: caller === null ? '' : caller.kind === 'session' ? 'session' : 'key',
      credentialId: caller === null ? '' : caller.credentialId,
      requestId: exchange.id,
      address: exchange.address,
      bytesIn: exchange.bytesIn,
      bytesOut: bodyBytes,
    });
  }

  const certificate =
    config.listen.tls === undefined
      ? null
      : watchCertificate(config.listen.tls, {
          onChange: (renewed) => {
            server.renewCertificate(renewed);
            log.info('certificate renewed');
          },
          onError: (error) => log.error('certificate files are not usable', { err: error }),
        });
  const server = createPublicServer({
    limits: {
      connections: limits.connections,
      targetBytes: limits.target_bytes,
      headerBytes: limits.header_bytes,
      headerCount: limits.header_count,
      headerTimeoutMs: limits.header_timeout,
      bodyIdleTimeoutMs: limits.body_idle_timeout,
      writeIdleTimeoutMs: limits.write_idle_timeout,
      keepAliveTimeoutMs: limits.keep_alive_timeout,
      requestsPerConnection: limits.requests_per_connection,
    },
    proxies: createTrustedProxies(config.trusted_proxies),
    realm: tenant,
    tls: certificate?.current ?? null,
    onExchange: handle,
    onRefused: (exchange, refusal) => replies.refuse(exchange, refusal),
    onClosed: account,
    onUnreadable: (refusal, address) => {
      metrics.requestDone('', '', refusal.status, refusal.code, 0);
      log.info('unreadable request', { outcome: refusal.code, status: refusal.status, address });
    },
  });
  let draining = false;
  const management = createManagementServer({
    metrics,
    dependencies: [
      { name: 'records', required: true, ping: () => records.ping() },
      { name: 'sessions', required: false, ping: () => sessions.ping() },
    ],
    isDraining: () => draining,
  });

  const state = await records.bootstrap();
  const needsToken = state.open && state.token === null && config.bootstrap.token === undefined;
  const { open, token } = needsToken
    ? await records.setBootstrapToken(randomBytes(bootstrapTokenBytes).toString('base64url'), {
        reset: false,
      })
    : state;

  const address = await server.listen(config.listen.host, config.listen.port);
  const managementAddress = await management.listen(config.management.host, config.management.port);
  const timers = [
    setInterval(() => recentUse.flush().catch(logStoreError), flushIntervalMs),
    setInterval(() => sessions.prune().catch(logStoreError), pruneIntervalMs),
  ];
  for (const timer of timers) timer.unref();

  function logStoreError(error: unknown): void {
    log.error('a store could not be written', { err: error });
  }

  async function stop(): Promise<void> {
    draining = true;
    server.announceClose();
    await new Promise((resolve) => setTimeout(resolve, config.shutdown.delay));
    await server.drain(config.shutdown.timeout);
    for (const timer of timers) clearInterval(timer);
    streams.close();
    certificate?.close();
    await routes.close();
    await recentUse.flush().catch(logStoreError);
    await management.close();
    await stores.close();
    await log.close();
  }

  return {
    address,
    managementAddress,
    bootstrapToken: open && config.endpoints.bootstrap === 'own' ? token : null,
    stop,
  };
}
