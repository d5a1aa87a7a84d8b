import { combineMetrics } from '../metrics/combined-metrics.ts';
import { type MetricsRegistry, textOf } from '../metrics/registry.ts';
import type { WorkerGroup } from './worker-group.ts';

/** The metrics of the whole gateway: what the supervisor counts, its workers, and what those had counted that have ended. */
export function createSupervisorMetrics(
  registry: MetricsRegistry,
  group: () => WorkerGroup | undefined,
): Pick<MetricsRegistry, 'text' | 'contentType'> {
  return {
    contentType: registry.contentType,
    async text() {
      const own = { worker: 'supervisor', metrics: await registry.snapshot() };
      const workers = (await group()?.metrics()) ?? [];
      return textOf(combineMetrics([own, ...workers], group()?.ended.metrics));
    },
  };
}
