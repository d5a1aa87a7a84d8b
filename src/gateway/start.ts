import type { Config } from '../config/schema.ts';
import { createRecentUse } from '../credentials/recent-use.ts';
import { ManagementServer } from '../http/management.ts';
import type { Log } from '../log/log.ts';
import { createOpenStreams } from '../proxy/open-streams.ts';
import { loadTracing } from '../tracing/load.ts';
import type { Tracing } from '../tracing/tracing.ts';
import { addAuditCounts, countAudited } from './audit-counts.ts';
import { startAuditTrail } from './audit-trail.ts';
import { startBackgroundWork } from './background-work.ts';
import { openBootstrap } from './bootstrap.ts';
import { composeGateway, type LastingParts } from './compose.ts';
import { CurrentGateway } from './current-gateway.ts';
import { loadEngine } from './engine.ts';
import { applyManaged } from './managed-configuration.ts';
import { createGatewayMetrics, type GatewayMetrics } from './metrics.ts';
import { PublicListener } from './public-listener.ts';
import { rememberStart } from './restart-only.ts';
import { RunningGateway, type RunningParts } from './running-gateway.ts';
import { traceStores } from './spans.ts';
import { StoreHealth } from './store-health.ts';
import { measureStores } from './store-metrics.ts';
import { openStores, type Stores } from './stores.ts';

/** How long a start waits for the records store, ms. */
const recordsTimeoutMs = 30_000;

/** How a gateway runs, apart from its configuration. */
export interface StartOptions {
  /** The clock, epoch ms. */
  readonly now?: () => number;
  /** Whether people see a page of `builtin:echo`; by default, everyone gets JSON. */
  readonly showsEchoPage?: boolean;
}

/** Opens stores and listeners and starts serving. Throws when a store can't be opened or an address is taken. */
export async function startGateway(
  config: Config,
  log: Log,
  { now = Date.now, showsEchoPage = false }: StartOptions = {},
): Promise<RunningGateway> {
  const current = new CurrentGateway();
  const streams = createOpenStreams(current.heldNow);
  const metrics = createGatewayMetrics({ openStreams: () => streams.size, gateway: () => current.watched() });
  const tracing = await startTracing(config, log);
  const health = new StoreHealth(log);

  // The first listener to open: probes see that the process lives, and what it waits for.
  const managed = await openManagement(config, metrics, health);
  const opened = await openStores(config, now, health.events, recordsTimeoutMs).catch(async (error) => {
    await managed.management.close();
    throw error;
  });
  const restartOnly = rememberStart(config);
  const lasting = await startLasting(config, opened, current, {
    streams,
    log,
    metrics,
    tracing,
    showsEchoPage,
    now,
  });
  const { stores } = lasting;

  await applyManaged(config, { stores, log }).catch(async (error) => {
    await managed.management.close();
    await stores.close();
    throw error;
  });
  current.replace(await composeGateway(config, lasting));
  stores.sessions.onEnded((id, afterMs) => {
    streams.endOf(id);
    metrics.revocationSeen(afterMs);
  });
  const serving = await startServing(config, lasting, current);
  health.serveFrom(stores);
  const background = startBackgroundWork(stores, {
    recentUse: lasting.recentUse,
    log,
    auditSettings: () => current.auditSettings(),
    now,
  });
  return new RunningGateway({ ...managed, ...serving, config, restartOnly, lasting, current, background });
}

/** Starts the parts that every configuration shares. */
async function startLasting(
  config: Config,
  opened: Stores,
  current: CurrentGateway,
  parts: Pick<LastingParts, 'streams' | 'log' | 'metrics' | 'tracing' | 'showsEchoPage' | 'now'>,
): Promise<LastingParts> {
  const { log, now, tracing } = parts;
  const { registry } = parts.metrics;
  const measured = traceStores(measureStores(opened, registry), tracing, config);
  const counts = addAuditCounts(registry);
  const stores = { ...measured, records: countAudited(measured.records, counts) };
  return {
    ...parts,
    stores,
    recentUse: createRecentUse({
      records: stores.records,
      sessions: stores.sessions,
      times: () => current.sessionTimes(),
    }),
    cookieNames: new Set(),
    auditTrail: startAuditTrail(measured.records, { log, registry, counts, now }),
    engine: await loadEngine(config, log),
  };
}

/** Opens the public listener, and the bootstrap while there is no user. */
async function startServing(
  config: Config,
  { engine, log, auditTrail, metrics, tracing, stores }: LastingParts,
  current: CurrentGateway,
): Promise<Pick<RunningParts, 'listener' | 'address' | 'bootstrapToken'>> {
  const { refusals } = auditTrail;
  const listener = new PublicListener(config, { engine, current, log, refusals, metrics, tracing });
  const bootstrapToken = await openBootstrap(stores.records, config);
  const address = await listener.listen(config.listen.host, config.listen.port);
  return { listener, address, bootstrapToken };
}

type Managed = Pick<RunningParts, 'management' | 'managementAddress' | 'startDraining'>;

async function openManagement(
  config: Config,
  metrics: GatewayMetrics,
  health: StoreHealth,
): Promise<Managed> {
  let isDraining = false;
  const management = new ManagementServer({
    metrics: metrics.registry,
    dependencies: health.dependencies(config),
    isDraining: () => isDraining,
  });
  const { host, port } = config.management;
  return {
    management,
    managementAddress: await management.listen(host, port),
    startDraining() {
      isDraining = true;
    },
  };
}

function startTracing({ tenant }: Config, log: Log): Promise<Tracing | null> {
  return loadTracing(
    process.env,
    { 'service.name': 'postern', 'postern.tenant': tenant },
    {
      onProblem: (problem) => log.warn('invalid tracing setting', { problem }),
      onUnavailable: (reason) => log.warn('trace export failed', { reason }),
      onAvailable: () => log.info('trace export resumed'),
    },
  );
}
