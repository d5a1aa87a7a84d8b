import { readConfiguredFiles, readStoreFiles } from '../config/configured-files.ts';
import type { Config } from '../config/sections/schema.ts';
import { ManagementServer } from '../http/management.ts';
import { ListenerCertificates } from '../listeners/listener-certificates.ts';
import type { Log } from '../log/log.ts';
import { createMetricsRegistry } from '../metrics/registry.ts';
import { managementConnections } from '../runtime/descriptors.ts';
import { ManagedReadings } from '../runtime/managed-readings.ts';
import { addReloads } from '../runtime/reload-metrics.ts';
import type { Creation } from '../runtime/store-files.ts';
import { rememberStart } from '../serve/restart-only.ts';
import { claimPorts, sharedPlaces } from './claimed-ports.ts';
import { combineReadiness } from './combined-readiness.ts';
import { Supervisor } from './supervisor.ts';
import { createSupervisorMetrics } from './supervisor-metrics.ts';
import { WorkerGroup } from './worker-group.ts';
import type { Outputs } from './worker-process.ts';

/** How the workers run, apart from the configuration. */
export interface WorkersOptions {
  /** How many. */
  readonly count: number;
  readonly outputs: Outputs;
  /** Whether the log is read on a terminal. */
  readonly isTerminal: boolean;
  readonly showsEchoPage: boolean;
  readonly creates: Creation;
}

/** Starts a gateway in several processes; rejects as `startGateway` does, or because a worker ended before it served. */
export async function startWorkers(config: Config, log: Log, options: WorkersOptions): Promise<Supervisor> {
  const registry = createMetricsRegistry();
  const reloads = addReloads(registry);
  let restarts = 0;
  registry.add({
    name: 'worker_restarts_total',
    help: 'Workers started in place of one that ended.',
    type: 'counter',
    collect: () => [{ labels: {}, value: restarts }],
  });
  let group: WorkerGroup | undefined;
  let isDraining = false;
  const metrics = createSupervisorMetrics(registry, () => group);
  // The first listener to open: probes see that the process lives, and what it waits for.
  const management = new ManagementServer({
    metrics,
    readiness: async () => {
      const states = (await group?.readiness()) ?? Array.from({ length: options.count }, () => null);
      return combineReadiness(states, isDraining);
    },
    assertionKeys: async () => group?.assertionKeys() ?? null,
    maxConnections: managementConnections(),
  });
  const managementAddress = await management.listen(config.management.host, config.management.port);
  const storeFiles = readStoreFiles(config);
  const restartOnly = rememberStart(storeFiles);
  let certificates: ListenerCertificates | undefined;
  try {
    // A port that someone holds is known before any store is opened; one that the system chooses is chosen late.
    await claimPorts(sharedPlaces(config).filter(({ port }) => port !== 0));
    certificates = new ListenerCertificates(config, { log, reloads, registry, now: Date.now }, (tls) =>
      group?.renewTls(tls),
    );
    group = new WorkerGroup({
      ...options,
      handed: { config, files: readConfiguredFiles(config), tls: certificates.current },
      storeFiles,
      log,
      onRestart: () => {
        restarts += 1;
      },
    });
    const workers = group;
    const started = await workers.start();
    return new Supervisor({
      config,
      log,
      reloads,
      restartOnly,
      managed: new ManagedReadings(config, { log, reloads, inForce: () => workers.configurationInForce() }),
      certificates,
      management,
      managementAddress,
      group,
      started,
      startDraining() {
        isDraining = true;
      },
    });
  } catch (error) {
    certificates?.close();
    await management.close();
    throw error;
  }
}
