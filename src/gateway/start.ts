import type { AddressInfo } from 'node:net';
import type { Config } from '../config/schema.ts';
import { createRecentUse } from '../credentials/recent-use.ts';
import { longExchangeTargets } from '../endpoints/provider-paths.ts';
import { Refusal } from '../errors.ts';
import { type CertificateFiles, watchCertificate } from '../http/certificate-files.ts';
import { createTrustedProxies } from '../http/client-address.ts';
import type { Exchange } from '../http/exchange.ts';
import { createManagementServer } from '../http/management.ts';
import { createPublicServer, type ServerSettings } from '../http/public-server.ts';
import type { Log } from '../log/log.ts';
import { createOpenStreams } from '../proxy/open-streams.ts';
import { loadTracing } from '../tracing/load.ts';
import { openBootstrap } from './bootstrap.ts';
import { reportCommandEvents } from './command-events.ts';
import { composeGateway, type Gateway } from './gateway.ts';
import { createGatewayMetrics, noGateway } from './metrics.ts';
import { endTrace, traceExchange } from './request-spans.ts';
import { rememberStart } from './restart-only.ts';
import { traceStores } from './spans.ts';
import { measureStores } from './store-metrics.ts';
import { openStores, type StoreEvents, type Stores } from './stores.ts';

/** A gateway that serves. */
export interface RunningGateway {
  readonly address: AddressInfo;
  readonly managementAddress: AddressInfo;
  /** The activation token made by Postern while there is no user yet; null when there is none to show. */
  readonly bootstrapToken: string | null;
  /**
   * Serves by another configuration from now on; what is in flight finishes by the old one. What needs a restart stays
   * as it is and is reported. Rejects, with everything as it was, when a file it names can't be used.
   */
  reload(config: Config): Promise<void>;
  /** Takes note of a configuration that could not be read; the running one stays. */
  reloadFailed(problems: readonly string[]): void;
  /** Drains, writes out what is collected and closes the stores; durations are those of `shutdown`. */
  stop(): Promise<void>;
}

/** How long a start waits for the records store, ms. */
const recordsTimeoutMs = 30_000;
/** A body's rate is an average, and says nothing of its first seconds. */
const bodyJudgedAfterMs = 30_000;
const flushIntervalMs = 60_000;
const pruneIntervalMs = 600_000;

/** Opens stores and listeners and starts serving. Throws when a store can't be opened or an address is taken. */
export async function startGateway(
  initial: Config,
  log: Log,
  now: () => number = Date.now,
): Promise<RunningGateway> {
  let composed: Gateway | null = null;
  let reached: Stores | null = null;
  let recordsUnavailableSince: number | null = null;
  let draining = false;
  const streams = createOpenStreams((principal) => gateway.heldNow(principal));
  const metrics = createGatewayMetrics({
    openStreams: () => streams.size,
    gateway: () => composed ?? noGateway,
  });
  const tracing = await loadTracing(
    process.env,
    { 'service.name': 'postern', 'postern.tenant': initial.tenant },
    {
      onProblem: (problem) => log.warn('tracing', { problem }),
      onUnavailable: (reason) => log.warn('traces can not be exported', { reason }),
      onAvailable: () => log.info('traces are exported again'),
    },
  );
  // The first thing that is open: whoever probes is told that it lives, and what it waits for.
  const management = createManagementServer({
    metrics: metrics.registry,
    dependencies: [
      {
        name: 'records',
        toleranceMs: initial.sessions.stale_if_error,
        ping: async () => requireReached().records.ping(),
        unavailableSince: () => (reached === null ? Number.NEGATIVE_INFINITY : recordsUnavailableSince),
      },
      {
        name: 'sessions',
        toleranceMs: Number.POSITIVE_INFINITY,
        ping: async () => requireReached().sessions.ping(),
      },
    ],
    isDraining: () => draining,
  });
  const managementAddress = await management.listen(initial.management.host, initial.management.port);
  const storeEvents: StoreEvents = {
    onUnavailable(store, reason, since = performance.now()) {
      if (store === 'records') recordsUnavailableSince = since;
      log.warn('store unavailable', { store, reason });
    },
    onNotificationsLost: (store, reason) =>
      log.warn('store change notifications unavailable', { store, reason }),
    onNarrowed: (file, mode) => log.warn('store file was open to others', { file, mode }),
    onAvailable(store) {
      if (store === 'records') recordsUnavailableSince = null;
      log.info('store available again', { store });
    },
  };
  const opened = await openStores(initial, now, storeEvents, recordsTimeoutMs).catch(async (error) => {
    await management.close();
    throw error;
  });
  const stores = traceStores(measureStores(opened, metrics.registry), tracing, initial);
  const { records, sessions } = stores;
  const recentUse = createRecentUse(records);
  const lasting = { stores, recentUse, cookieNames: new Set<string>(), streams, log, metrics, tracing, now };
  const whatNeedsRestart = rememberStart(initial);
  let config = initial;
  let gateway: Gateway = await composeGateway(config, lasting);
  composed = gateway;
  sessions.onEnded((id, afterMs) => {
    streams.endOf(id);
    metrics.revocationSeen(afterMs);
  });

  /** What is not open yet can't be reached. */
  function requireReached(): Stores {
    if (reached === null) throw new Refusal('store_unavailable');
    return reached;
  }

  function account(exchange: Exchange): void {
    exchange.onClose?.();
    const { method, path, route, outcome, caller } = exchange;
    const { status, bodyBytes } = exchange.response;
    const { startedMs, takenAt } = exchange;
    const durationMs = performance.now() - startedMs;
    const ownMs = takenAt === 0 ? durationMs : takenAt - startedMs;
    metrics.requests.done(route, method, status, outcome, durationMs, ownMs);
    log.access({
      method,
      path: exchange.targetIsGood ? path : '',
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
    if (exchange.trace !== null) endTrace(exchange.trace, exchange);
    exchange.onOver?.();
  }

  let certificate = watchTls(config);
  const server = createPublicServer({
    ...serverSettings(config),
    realm: config.tenant,
    tls: certificate?.current ?? null,
    onExchange(exchange) {
      if (tracing === null) gateway.handle(exchange);
      else traceExchange(tracing, exchange, () => gateway.handle(exchange));
    },
    onRefused(exchange, refusal) {
      if (tracing === null) gateway.refuse(exchange, refusal);
      else traceExchange(tracing, exchange, () => gateway.refuse(exchange, refusal));
    },
    onClosed: account,
    onUnreadable: (refusal, address) => {
      metrics.requests.unreadable(refusal.status, refusal.code);
      log.info('unreadable request', { outcome: refusal.code, status: refusal.status, address });
    },
  });

  function watchTls({ listen: { tls } }: Config): CertificateFiles | null {
    if (tls === undefined) return null;
    return watchCertificate(tls, {
      onChange: (renewed) => {
        server.renewCertificate(renewed);
        metrics.reloaded('certificate', 'applied');
        log.info('certificate renewed');
      },
      onError: (error) => {
        metrics.reloaded('certificate', 'failed');
        log.error('certificate files are not usable', { err: error });
      },
    });
  }

  const bootstrapToken = await openBootstrap(records, config);
  const address = await server.listen(config.listen.host, config.listen.port);
  reached = stores;
  const timers = [
    setInterval(() => recentUse.flush().catch(logStoreError), flushIntervalMs),
    setInterval(() => sessions.prune().catch(logStoreError), pruneIntervalMs),
  ];
  for (const timer of timers) timer.unref();
  const stopReporting = reportCommandEvents(records, log);

  function logStoreError(error: unknown): void {
    log.error('a store could not be written', { err: error });
  }

  async function reload(wanted: Config): Promise<void> {
    const { keys, config: next } = whatNeedsRestart(config, wanted);
    // Whatever of it can fail comes first: until then nothing has changed.
    const nextCertificate = watchTls(next);
    let nextGateway: Gateway;
    try {
      nextGateway = await composeGateway(next, lasting);
    } catch (error) {
      nextCertificate?.close();
      throw error;
    }
    gateway.retire();
    certificate?.close();
    metrics.requests.forget(routesOnlyIn(config, next));
    config = next;
    gateway = nextGateway;
    composed = nextGateway;
    certificate = nextCertificate;
    if (certificate !== null) server.renewCertificate(certificate.current);
    server.apply(serverSettings(next));
    log.setLevel(next.log.level);
    metrics.reloaded('configuration', 'applied');
    metrics.restartNeeded(keys.length);
    log.info('configuration reloaded');
    if (keys.length > 0) log.warn('a change of the configuration needs a restart', { keys });
  }

  return {
    address,
    managementAddress,
    bootstrapToken,
    reload,
    reloadFailed(problems) {
      metrics.reloaded('configuration', 'failed');
      log.error('config_reload_failed', { problems });
    },
    async stop() {
      draining = true;
      server.announceClose();
      await new Promise((resolve) => setTimeout(resolve, config.shutdown.delay));
      await server.drain(config.shutdown.timeout);
      for (const timer of timers) clearInterval(timer);
      stopReporting();
      streams.close();
      certificate?.close();
      await gateway.close();
      await recentUse.flush().catch(logStoreError);
      await stores.close();
      await tracing?.close();
      // Whoever waits for the drain to be over looks here.
      await management.close();
      await log.close();
    },
  };
}

/** Paths of routes that are gone. */
function routesOnlyIn(before: Config, now: Config): string[] {
  const kept = new Set(now.routes.map(pathOf));
  return before.routes.map(pathOf).filter((path) => !kept.has(path));
}

const pathOf = ({ exact, prefix }: Config['routes'][number]) => exact ?? prefix!;

function serverSettings({ limits, identity_providers, trusted_proxies }: Config): ServerSettings {
  return {
    limits: {
      connections: limits.connections,
      connectionsPerAddress: limits.connections_per_address,
      targetBytes: limits.target_bytes,
      headerBytes: limits.header_bytes,
      headerCount: limits.header_count,
      headerTimeoutMs: limits.header_timeout,
      bodyIdleTimeoutMs: limits.body_idle_timeout,
      bodyJudgedAfterMs,
      writeIdleTimeoutMs: limits.write_idle_timeout,
      keepAliveTimeoutMs: limits.keep_alive_timeout,
      requestsPerConnection: limits.requests_per_connection,
    },
    longTargets: longExchangeTargets(Object.keys(identity_providers)),
    proxies: createTrustedProxies(trusted_proxies),
  };
}
