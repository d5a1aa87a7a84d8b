import type { Config } from '../config/sections/schema.ts';
import { CurrentGateway } from '../gateway/current-gateway.ts';
import type { LastingParts } from '../gateway/lasting-parts.ts';
import { createReadiness, type ReadReadiness } from '../http/readiness.ts';
import type { Log } from '../log/log.ts';
import type { Resolve } from '../names/system-resolver.ts';
import { OpenStreams } from '../proxy/open-streams.ts';
import { Descriptors } from '../runtime/descriptors.ts';
import { createGatewayMetrics, noGateway } from '../runtime/metrics.ts';
import { createGatewayNames } from '../runtime/names.ts';
import { RefusedConnections } from '../runtime/refused-connections.ts';
import { RemovedHeaderCounts, RemovedHeaderLines, type ReportRemoved } from '../runtime/removed-headers.ts';
import { StoreHealth } from '../runtime/store-health.ts';
import { addStoreHealth } from '../runtime/store-metrics.ts';
import { newVia } from '../runtime/via.ts';
import { loadTracing } from '../tracing/load.ts';
import type { Tracing } from '../tracing/tracing.ts';

/** Parts of a process that serves, made before a store is open. */
export interface ProcessParts
  extends Pick<
    LastingParts,
    'streams' | 'metrics' | 'tracing' | 'names' | 'descriptors' | 'log' | 'via' | 'now'
  > {
  readonly current: CurrentGateway;
  readonly health: StoreHealth;
  readonly readiness: ReadReadiness;
  /** Makes {@link readiness} report `draining` from now on. */
  readonly startDraining: () => void;
  readonly refused: RefusedConnections;
  readonly removed: RemovedHeaderCounts;
}

/** Options of {@link createProcessParts}. */
export interface ProcessOptions {
  readonly now: () => number;
  /** Finds the addresses of host names; default: as this system is configured. */
  readonly resolve?: Resolve | undefined;
  /** The name of the gateway in `Postern-Via`. Default: a name for this process alone. */
  readonly via?: string;
  /** Receives the counts of removed headers; default: this process has the log lines about them. */
  readonly reportRemoved?: ReportRemoved;
}

/** Creates the parts of this process. */
export async function createProcessParts(
  config: Config,
  log: Log,
  { now, resolve, via = newVia(), reportRemoved = linesOf(log, now) }: ProcessOptions,
): Promise<ProcessParts> {
  const current = new CurrentGateway(config);
  const streams = new OpenStreams((principal) => current.gateway.parts.heldNow(principal));
  const metrics = createGatewayMetrics(
    () => streams.size,
    () => current.serving?.parts.watched ?? noGateway,
  );
  const tracing = await startTracing(config, log);
  const health = new StoreHealth(log);
  addStoreHealth(metrics.registry, health);
  let isDraining = false;
  return {
    current,
    streams,
    metrics,
    tracing,
    health,
    readiness: createReadiness(
      health.dependencies(() => current.config.sessions.stale_if_error),
      () => isDraining,
    ),
    startDraining() {
      isDraining = true;
    },
    names: createGatewayNames(log, metrics.registry, resolve),
    descriptors: new Descriptors(config),
    refused: new RefusedConnections(metrics.registry, log),
    removed: new RemovedHeaderCounts(reportRemoved),
    log,
    via,
    now,
  };
}

function linesOf(log: Log, now: () => number): ReportRemoved {
  const lines = new RemovedHeaderLines(log, now);
  return (counts) => lines.add(counts);
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
