import type { Config } from '../config/sections/schema.ts';
import type { Log } from '../log/log.ts';
import { combineMetrics } from '../metrics/combined-metrics.ts';
import { MetricsRegistry, textOf } from '../metrics/registry.ts';
import { type RunningGateway, runGateway } from '../serve/running-gateway.ts';
import { type GroupOptions, WorkerGroup } from './worker-group.ts';

/** Starts a gateway in several processes; rejects as `startGateway` does, or because a worker ended before it served. */
export async function startWorkers(config: Config, log: Log, options: GroupOptions): Promise<RunningGateway> {
  const registry = new MetricsRegistry();
  const group = new WorkerGroup(options, log);
  registry.add({
    name: 'worker_restarts_total',
    help: 'Workers started in place of one that ended.',
    type: 'counter',
    collect: () => [{ labels: {}, value: group.restarts }],
  });
  return runGateway(config, {
    log,
    registry,
    now: Date.now,
    management: {
      metrics: {
        contentType: registry.contentType,
        async text() {
          const own = { worker: 'supervisor', metrics: await registry.snapshot() };
          return textOf(combineMetrics([own, ...(await group.metrics())], group.ended.metrics));
        },
      },
      readiness: () => group.readiness(),
      assertionKeys: () => group.assertionKeys(),
    },
    start: (initial, storeFiles) => group.start(initial, storeFiles),
  });
}
