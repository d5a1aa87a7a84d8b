import type { KnownKeys } from '../credentials/known-keys.ts';
import type { MetricsRegistry } from '../metrics/registry.ts';
import { turnsAt } from '../stores/key-schedule.ts';
import { isOfSeries } from '../stores/signing-key.ts';
import { plannedSeries } from './key-times.ts';

/** Adds how long the keys of now will sign. */
export function addKeyMetrics(
  registry: MetricsRegistry,
  keys: KnownKeys,
  config: () => Parameters<typeof plannedSeries>[0],
): void {
  registry.add({
    name: 'signing_key_seconds_to_rotation',
    help: 'Seconds until the next key signs, by purpose and algorithm; negative: it is overdue. Absent without rotation.',
    type: 'gauge',
    combination: 'min',
    collect: () =>
      plannedSeries(config()).flatMap(({ series, times }) => {
        const time = keys.time();
        const at = turnsAt(
          keys.keys.filter((key) => isOfSeries(key, series)),
          times,
          time,
        );
        return Number.isFinite(at) ? [{ labels: { ...series }, value: (at - time) / 1000 }] : [];
      }),
  });
}
