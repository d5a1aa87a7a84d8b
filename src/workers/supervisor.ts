import type { AddressInfo } from 'node:net';
import { readConfiguredFiles } from '../config/configured-files.ts';
import type { Config } from '../config/sections/schema.ts';
import type { ManagementServer } from '../http/management.ts';
import type { ListenerCertificates } from '../listeners/listener-certificates.ts';
import type { Log } from '../log/log.ts';
import type { ManagedReadings } from '../runtime/managed-readings.ts';
import type { ReloadMetrics } from '../runtime/reload-metrics.ts';
import { reportReloaded, reportReloadFailed } from '../serve/reload-reports.ts';
import type { rememberStart } from '../serve/restart-only.ts';
import type { StartedWorker } from './worker-api.ts';
import type { WorkerGroup } from './worker-group.ts';

/** What a supervisor is made of. */
export interface SupervisorParts {
  /** What it was started with. */
  readonly config: Config;
  readonly log: Log;
  readonly reloads: ReloadMetrics;
  readonly restartOnly: ReturnType<typeof rememberStart>;
  readonly managed: ManagedReadings;
  readonly certificates: ListenerCertificates;
  readonly management: ManagementServer;
  readonly managementAddress: AddressInfo;
  readonly group: WorkerGroup;
  readonly started: StartedWorker;
  /** From now on `/readyz` says `draining`. */
  readonly startDraining: () => void;
}

/** A gateway that serves in several processes, and behaves as one, like `RunningGateway`. */
export class Supervisor {
  readonly address: AddressInfo;
  readonly managementAddress: AddressInfo;
  /** The activation token made by Postern until there is an administrator; null when there is none to show. */
  readonly bootstrapToken: string | null;
  readonly #parts: SupervisorParts;
  #config: Config;

  constructor(parts: SupervisorParts) {
    this.address = parts.started.address;
    this.managementAddress = parts.managementAddress;
    this.bootstrapToken = parts.started.bootstrapToken;
    this.#parts = parts;
    this.#config = parts.config;
  }

  /** All workers serve by another configuration from now on, or it rejects and none does; as `RunningGateway.reload`. */
  async reload(wanted: Config): Promise<void> {
    const { log, certificates, group, restartOnly, managed } = this.#parts;
    const { keys, config: next } = restartOnly(this.#config, wanted);
    const certificate = certificates.prepare(next);
    const { tls } = certificate;
    const handed = { config: next, files: readConfiguredFiles(next), tls };
    const outcome = await group.reload(handed, managed.readingOf(next)).catch((error: unknown) => {
      certificate.discard();
      throw error;
    });
    certificate.apply();
    this.#config = next;
    log.configure(next.log);
    reportReloaded(this.#parts, keys);
    managed.read(next, outcome);
  }

  /** Takes note of a configuration that could not be read; the running one stays. */
  reloadFailed(problems: readonly string[]): void {
    reportReloadFailed(this.#parts, problems);
  }

  /** Has every worker drain and end; rejects if one had to be killed, or failed. */
  async stop(): Promise<void> {
    const { log, managed, certificates, group, management, startDraining } = this.#parts;
    managed.close();
    startDraining();
    // A second signal, for which this process ends at once, ends them, too.
    process.once('exit', () => group.kill());
    const isClean = await group.stop();
    certificates.close();
    await management.close();
    await log.close();
    if (!isClean)
      throw Object.assign(new Error('a worker did not stop as it should'), { code: 'worker_ended' });
  }
}
