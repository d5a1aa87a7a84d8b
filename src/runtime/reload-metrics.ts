import type { MetricsRegistry } from '../metrics/registry.ts';

/** Files that are read again while the gateway runs. */
export type Reloaded = 'configuration' | 'certificate';

/** Counts reloads. */
export type ReloadMetrics = ReturnType<typeof addReloads>;

/** Adds the metrics of reloads, for the one process that reads the configuration. */
export function addReloads(registry: MetricsRegistry) {
  const reloads = registry.counts('outcome', 'config_reloads_total', 'Reloads by outcome: applied, failed.', [
    'applied',
    'failed',
  ]);
  const failing = new Set<Reloaded>();
  let waiting = 0;
  let isSuperseded = false;
  registry.gauge(
    'config_last_reload_successful',
    '1 while the configuration and certificate read last are in use, and its users and scope sets in force, otherwise 0.',
    () => (failing.size === 0 && !isSuperseded ? 1 : 0),
  );
  registry.gauge(
    'config_restart_needed',
    'Configuration keys that take effect only after a restart.',
    () => waiting,
  );
  return {
    /** Records that files were read again, and have been applied or are unusable. */
    reloaded(what: Reloaded, outcome: 'applied' | 'failed'): void {
      reloads[outcome]++;
      if (outcome === 'failed') failing.add(what);
      // A new configuration is adopted with its certificate, or not at all.
      else if (what === 'configuration') failing.clear();
      else failing.delete(what);
    },
    /** Sets the number of keys of the configuration that take effect only after a restart. */
    restartNeeded(keys: number): void {
      waiting = keys;
    },
    /** Sets whether the users and scope sets of the configuration read last have been superseded. */
    superseded(is: boolean): void {
      isSuperseded = is;
    },
  };
}
