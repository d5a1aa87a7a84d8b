import type { AddressInfo } from 'node:net';
import { type ConfiguredFiles, readConfiguredFiles, readStoreFiles } from '../config/configured-files.ts';
import type { Config } from '../config/sections/schema.ts';
import { type ManagementOptions, ManagementServer } from '../http/management.ts';
import { ListenerCertificates, type ListenersTls } from '../listeners/listener-certificates.ts';
import type { ListenerAddress } from '../listeners/listeners.ts';
import type { Log } from '../log/log.ts';
import type { MetricsRegistry } from '../metrics/registry.ts';
import { managementConnections } from '../runtime/descriptor-limit.ts';
import { ManagedReadings } from '../runtime/managed-readings.ts';
import { addReloads, type ReloadMetrics } from '../runtime/reload-metrics.ts';
import type { ConfigurationInForce, ManagedOutcome, ManagedReading } from '../stores/managed-records.ts';
import { rememberStart } from './restart-only.ts';

/** A configuration with the content of every file that it names, except those of the stores: nothing is left to read. */
export interface CompleteConfiguration {
  readonly config: Config;
  /** Content of the files, except those of the stores and of the listeners' TLS. */
  readonly files: ConfiguredFiles;
  readonly tls: ListenersTls;
}

/** Addresses of the listener for requests, then of those for decisions in the order of `forward_auth`. */
export type ListenerAddresses = readonly [ListenerAddress, ...ListenerAddress[]];

/** Returns the configured addresses. */
export function listenerAddresses({ listen, forward_auth }: Config): ListenerAddresses {
  const addressOf = ({ host, port }: ListenerAddress) => ({ host, port });
  return [addressOf(listen), ...forward_auth.map(addressOf)];
}

/** Addresses and first credential of a gateway that accepts connections. */
export interface Opened {
  readonly address: AddressInfo;
  /** Addresses of the listeners of `forward_auth`, in their order. */
  readonly decisionAddresses: readonly AddressInfo[];
  /** The activation token that Postern generated, while there is no administrator; null if there is none to show. */
  readonly bootstrapToken: string | null;
}

/** The part of a gateway that serves requests: this process, or several workers. */
export interface Serving {
  readonly opened: Opened;
  /**
   * Switches to another configuration; requests in flight finish under the old one. The users and scope sets of the new one are
   * applied as `reading` says. Rejects, leaving everything unchanged, if that fails or a file can't be used.
   */
  reload(next: CompleteConfiguration, reading: ManagedReading): Promise<ManagedOutcome['outcome']>;
  /** Uses these certificates for new connections. */
  renewTls(tls: ListenersTls): void;
  /** As `ManagedRecords.configurationInForce`. */
  configurationInForce(): Promise<ConfigurationInForce | undefined>;
  /** Drains, then closes everything that serves; durations are those of `shutdown`. */
  stop(): Promise<void>;
}

/** Dependencies of {@link runGateway}. */
export interface RunOptions {
  readonly log: Log;
  readonly registry: MetricsRegistry;
  readonly management: Omit<ManagementOptions, 'maxConnections'>;
  /** The clock, epoch ms. */
  readonly now: () => number;
  /** Starts serving; the stores are opened with `storeFiles`. */
  readonly start: (initial: CompleteConfiguration, storeFiles: ConfiguredFiles) => Promise<Serving>;
}

/** Parts of a {@link RunningGateway}. */
interface RunningParts {
  readonly log: Log;
  readonly reloads: ReloadMetrics;
  readonly restartOnly: ReturnType<typeof rememberStart>;
  readonly managed: ManagedReadings;
  readonly certificates: ListenerCertificates;
  readonly management: ManagementServer;
  readonly serving: Serving;
}

/** Opens the management listener, then starts serving; rejects as {@link RunOptions.start} does, with nothing left open. */
export async function runGateway(
  config: Config,
  { log, registry, management: reported, now, start }: RunOptions,
): Promise<RunningGateway> {
  const reloads = addReloads(registry);
  // The first listener to open: probes see that the process lives, and what it waits for.
  const management = new ManagementServer({ ...reported, maxConnections: managementConnections() });
  const managementAddress = await management.listen(config.management.host, config.management.port);
  const storeFiles = readStoreFiles(config);
  let certificates: ListenerCertificates | undefined;
  let serving: Serving | undefined;
  let isRenewed = false;
  try {
    certificates = new ListenerCertificates(config, { log, reloads, registry, now }, (tls) => {
      isRenewed = true;
      serving?.renewTls(tls);
    });
    serving = await start(
      { config, files: readConfiguredFiles(config), tls: certificates.current },
      storeFiles,
    );
  } catch (error) {
    certificates?.close();
    await management.close();
    throw error;
  }
  if (isRenewed) serving.renewTls(certificates.current);
  const inForce = () => serving.configurationInForce();
  const managed = new ManagedReadings(config, { log, reloads, inForce });
  const restartOnly = rememberStart(storeFiles);
  return new RunningGateway(config, managementAddress, {
    log,
    reloads,
    restartOnly,
    managed,
    certificates,
    management,
    serving,
  });
}

/** A gateway that runs, in one process or several, and reloads its configuration. */
export class RunningGateway {
  readonly opened: Opened & { readonly managementAddress: AddressInfo };
  readonly #parts: RunningParts;
  #config: Config;

  constructor(config: Config, managementAddress: AddressInfo, parts: RunningParts) {
    this.opened = { ...parts.serving.opened, managementAddress };
    this.#parts = parts;
    this.#config = config;
  }

  /** As {@link Serving.reload}; changes that need a restart are left out and reported. */
  async reload(wanted: Config): Promise<void> {
    const { log, reloads, restartOnly, managed, certificates, serving } = this.#parts;
    const { keys, config } = restartOnly(this.#config, wanted);
    // Everything that can fail comes first: until then nothing has changed.
    const certificate = certificates.prepare(config);
    const next = { config, files: readConfiguredFiles(config), tls: certificate.tls };
    const outcome = await serving.reload(next, managed.readingOf(config)).catch((error: unknown) => {
      certificate.discard();
      throw error;
    });
    certificate.apply();
    this.#config = config;
    reloads.reloaded('configuration', 'applied');
    reloads.restartNeeded(keys.length);
    log.info('configuration reloaded');
    if (keys.length > 0) log.warn('configuration changes need a restart', { keys });
    managed.read(config, outcome);
  }

  /** Reports a configuration that could not be read or applied; the running one stays. */
  reloadFailed(problems: readonly string[]): void {
    const { log, reloads } = this.#parts;
    reloads.reloaded('configuration', 'failed');
    log.error('config_reload_failed', { problems });
  }

  /** Drains, writes out all collected data and closes the stores; durations are those of `shutdown`. */
  async stop(): Promise<void> {
    const { log, managed, certificates, serving, management } = this.#parts;
    managed.close();
    try {
      await serving.stop();
    } finally {
      certificates.close();
      // The last thing before the log: probes ask here whether the drain is over.
      await management.close();
      await log.close();
    }
  }
}
