import type { AddressInfo } from 'node:net';
import { readConfiguredFiles, readFrom } from '../config/configured-files.ts';
import type { Config } from '../config/sections/schema.ts';
import type { ManagementServer } from '../http/management.ts';
import type { ListenerCertificates } from '../listeners/listener-certificates.ts';
import type { Log } from '../log/log.ts';
import type { ManagedReadings } from '../runtime/managed-readings.ts';
import type { ReloadMetrics } from '../runtime/reload-metrics.ts';
import { reportReloaded, reportReloadFailed } from './reload-reports.ts';
import type { rememberStart } from './restart-only.ts';
import type { ServingGateway } from './serving-gateway.ts';

/** What a gateway in one process is made of. */
export interface RunningParts {
  /** What it was started with. */
  readonly config: Config;
  readonly log: Log;
  readonly reloads: ReloadMetrics;
  readonly restartOnly: ReturnType<typeof rememberStart>;
  readonly managed: ManagedReadings;
  readonly certificates: ListenerCertificates;
  readonly management: ManagementServer;
  readonly managementAddress: AddressInfo;
  readonly serving: ServingGateway;
}

/** A gateway that serves, in this process alone. */
export class RunningGateway {
  readonly address: AddressInfo;
  readonly managementAddress: AddressInfo;
  /** Of the listeners of `forward_auth`, in their order. */
  readonly decisionAddresses: readonly AddressInfo[];
  /** The activation token made by Postern until there is an administrator; null when there is none to show. */
  readonly bootstrapToken: string | null;
  readonly #parts: RunningParts;
  #config: Config;

  constructor(parts: RunningParts) {
    this.address = parts.serving.address;
    this.managementAddress = parts.managementAddress;
    this.decisionAddresses = parts.serving.decisionAddresses;
    this.bootstrapToken = parts.serving.bootstrapToken;
    this.#parts = parts;
    this.#config = parts.config;
  }

  /**
   * Serves by another configuration from now on; requests in flight finish under the old one. What needs a restart
   * stays as it is and is reported. Rejects, with everything as it was, when a file it names can't be used, and as
   * {@link applyManaged} does.
   */
  async reload(wanted: Config): Promise<void> {
    const { certificates, serving, restartOnly, managed } = this.#parts;
    const { keys, config: next } = restartOnly(this.#config, wanted);
    // Everything that can fail comes first: until then nothing has changed.
    const certificate = certificates.prepare(next);
    const readFile = readFrom(readConfiguredFiles(next));
    const { tls } = certificate;
    const prepared = await serving.prepare(next, { readFile, tls }).catch((error: unknown) => {
      certificate.discard();
      throw error;
    });
    const reading = managed.readingOf(next);
    const outcome = await prepared.applyManaged(reading).catch(async (error: unknown) => {
      certificate.discard();
      await prepared.discard();
      throw error;
    });
    prepared.apply();
    certificate.apply();
    this.#config = next;
    reportReloaded(this.#parts, keys);
    managed.read(next, outcome);
  }

  /** Takes note of a configuration that could not be read; the running one stays. */
  reloadFailed(problems: readonly string[]): void {
    reportReloadFailed(this.#parts, problems);
  }

  /** Drains, writes out what is collected and closes the stores; durations are those of `shutdown`. */
  async stop(): Promise<void> {
    const { log, managed, certificates, serving, management } = this.#parts;
    managed.close();
    await serving.stop();
    certificates.close();
    // Last but for the log: probes ask here whether the drain is over.
    await management.close();
    await log.close();
  }
}
