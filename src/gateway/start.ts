import type { Config } from '../config/schema.ts';
import { createRecentUse } from '../credentials/recent-use.ts';
import { ManagementServer } from '../http/management.ts';
import type { Log } from '../log/log.ts';
import type { Resolve } from '../names/system-resolver.ts';
import { createOpenStreams } from '../proxy/open-streams.ts';
import { loadTracing } from '../tracing/load.ts';
import type { Tracing } from '../tracing/tracing.ts';
import { addAuditCounts, countAudited } from './audit-counts.ts';
import { startAuditTrail } from './audit-trail.ts';
import { startBackgroundWork } from './background-work.ts';
import { openBootstrap } from './bootstrap.ts';
import { composeGateway, type LastingParts } from './compose.ts';
import { CurrentGateway } from './current-gateway.ts';
import { DescriptorBudget } from './descriptor-budget.ts';
import { countOpenDescriptors, readDescriptorLimit } from './descriptor-limit.ts';
import { loadEngine } from './engine.ts';
import { applyManaged } from './managed-configuration.ts';
import { createGatewayMetrics, type GatewayMetrics } from './metrics.ts';
import { createGatewayNames } from './names.ts';
import { PublicListener } from './public-listener.ts';
import { RefusedConnections } from './refused-connections.ts';
import { rememberStart } from './restart-only.ts';
import { RunningGateway, type RunningParts } from './running-gateway.ts';
import { traceStores } from './spans.ts';
import { createStartSteps, type RunStep } from './start-steps.ts';
import type { Creation } from './store-files.ts';
import { StoreHealth } from './store-health.ts';
import { addStoreHealth, measureStores } from './store-metrics.ts';
import { openStores, type Stores } from './stores.ts';

/** How long a start waits for the records store, ms. */
const recordsTimeoutMs = 30_000;
/** Less than any connection to a store may take, ms: it fails with what failed. */
const storeLookupMs = 900;

/** How a gateway runs, apart from its configuration. */
export interface StartOptions {
  /** The clock, epoch ms. */
  readonly now?: () => number;
  /** Whether people see a page of `builtin:echo`; by default, everyone gets JSON. */
  readonly showsEchoPage?: boolean;
  /** Finds the addresses of host names; default: as this system is configured. */
  readonly resolve?: Resolve;
  /** Whether missing files of stores are made; by default at a first start. */
  readonly creates?: Creation;
}

/** Opens stores and listeners and starts serving. Throws when a store can't be opened or an address is taken. */
export async function startGateway(
  config: Config,
  log: Log,
  { now = Date.now, showsEchoPage = false, resolve, creates = 'first-start' }: StartOptions = {},
): Promise<RunningGateway> {
  const current = new CurrentGateway();
  const streams = createOpenStreams(current.heldNow);
  const metrics = createGatewayMetrics({ openStreams: () => streams.size, gateway: () => current.watched() });
  const tracing = await startTracing(config, log);
  const health = new StoreHealth(log);
  addStoreHealth(metrics.registry, health);
  const names = createGatewayNames(log, metrics.registry, resolve);
  const descriptors = new DescriptorBudget(config, readDescriptorLimit(), countOpenDescriptors());
  const refused = new RefusedConnections(metrics.registry, log);

  // The first listener to open: probes see that the process lives, and what it waits for.
  const managed = await openManagement(config, metrics, health, descriptors);
  const opened = await openStores(config, {
    now,
    events: health.events,
    recordsTimeoutMs,
    creates,
    lookup: names.lookupWithin(storeLookupMs),
  }).catch(async (error) => {
    await managed.management.close();
    throw error;
  });
  const restartOnly = rememberStart(config);
  const lasting = await startLasting(config, opened, current, {
    names,
    streams,
    log,
    metrics,
    tracing,
    descriptors,
    showsEchoPage,
    now,
  });
  const { stores } = lasting;

  const runStep = createStartSteps(config, recordsTimeoutMs);
  await runStep(() => applyManaged(config, { stores, log })).catch(async (error) => {
    await managed.management.close();
    await stores.close();
    throw error;
  });
  current.replace(await runStep(() => composeGateway(config, lasting)));
  stores.sessions.onEnded((id, afterMs) => {
    streams.endOf(id);
    metrics.revocationSeen(afterMs);
  });
  const serving = await startServing(config, lasting, current, { refused, runStep });
  health.serveFrom(stores);
  const background = startBackgroundWork(stores, {
    recentUse: lasting.recentUse,
    log,
    registry: metrics.registry,
    clocks: opened.clocks,
    auditSettings: () => current.auditSettings(),
    descriptors,
    refused,
    now,
  });
  return new RunningGateway({ ...managed, ...serving, config, restartOnly, lasting, current, background });
}

/** Starts the parts that every configuration shares. */
async function startLasting(
  config: Config,
  opened: Stores,
  current: CurrentGateway,
  parts: Pick<
    LastingParts,
    'names' | 'streams' | 'log' | 'metrics' | 'tracing' | 'descriptors' | 'showsEchoPage' | 'now'
  >,
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
  { engine, log, auditTrail, metrics, tracing, stores, descriptors, now }: LastingParts,
  current: CurrentGateway,
  { refused, runStep }: { readonly refused: RefusedConnections; readonly runStep: RunStep },
): Promise<Pick<RunningParts, 'listener' | 'address' | 'bootstrapToken'>> {
  const listener = new PublicListener(config, {
    engine,
    current,
    log,
    refusals: auditTrail.refusals,
    metrics,
    tracing,
    now,
    onConnectionRefused: (why) => refused.count(why === 'limit' && descriptors.isShort ? 'descriptors' : why),
  });
  metrics.watchConnections(listener, descriptors);
  descriptors.applyTo(listener, config, log);
  const bootstrapToken = await runStep(() => openBootstrap(stores.records, config));
  const address = await listener.listen(config.listen.host, config.listen.port);
  return { listener, address, bootstrapToken };
}

type Managed = Pick<RunningParts, 'management' | 'managementAddress' | 'startDraining'>;

async function openManagement(
  config: Config,
  metrics: GatewayMetrics,
  health: StoreHealth,
  { managementConnections }: DescriptorBudget,
): Promise<Managed> {
  let isDraining = false;
  const management = new ManagementServer({
    metrics: metrics.registry,
    dependencies: health.dependencies(config),
    isDraining: () => isDraining,
    maxConnections: managementConnections,
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
