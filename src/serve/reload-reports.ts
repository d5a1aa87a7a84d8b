import type { Log } from '../log/log.ts';
import type { ReloadMetrics } from '../runtime/reload-metrics.ts';

/** Where reloads of the configuration are reported. */
export interface ReloadReports {
  readonly log: Pick<Log, 'info' | 'warn' | 'error'>;
  readonly reloads: ReloadMetrics;
}

/** Reports that another configuration is in use; `keys`: those of it that need a restart. */
export function reportReloaded({ log, reloads }: ReloadReports, keys: readonly string[]): void {
  reloads.reloaded('configuration', 'applied');
  reloads.restartNeeded(keys.length);
  log.info('configuration reloaded');
  if (keys.length > 0) log.warn('configuration changes need a restart', { keys });
}

/** Reports a configuration that could not be read; the running one stays. */
export function reportReloadFailed({ log, reloads }: ReloadReports, problems: readonly string[]): void {
  reloads.reloaded('configuration', 'failed');
  log.error('config_reload_failed', { problems });
}
