import { readConfiguredFiles, readFrom, readStoreFiles } from '../config/configured-files.ts';
import type { Config } from '../config/sections/schema.ts';
import { ManagementServer } from '../http/management.ts';
import { ListenerCertificates } from '../listeners/listener-certificates.ts';
import type { Log } from '../log/log.ts';
import type { Resolve } from '../names/system-resolver.ts';
import { managementConnections } from '../runtime/descriptors.ts';
import { ManagedReadings } from '../runtime/managed-readings.ts';
import { addReloads } from '../runtime/reload-metrics.ts';
import type { Creation } from '../runtime/store-files.ts';
import { createProcessParts, type ProcessParts } from './process-parts.ts';
import { rememberStart } from './restart-only.ts';
import { RunningGateway } from './running-gateway.ts';
import type { ServingGateway } from './serving-gateway.ts';
import { startServing } from './start-serving.ts';

/** How a gateway runs, apart from its configuration. */
export interface StartOptions {
  /** The clock, epoch ms. */
  readonly now?: () => number;
  /** Whether people see a page of `builtin:echo`; by default, everyone gets JSON. */
  readonly showsEchoPage?: boolean;
  /** Finds the addresses of host names; default: as this system is configured. */
  readonly resolve?: Resolve;
  /** Whether missing files of stores are made; by default at a first start. */
  readonly creates?: Creation;
}

/** Opens stores and listeners and starts serving. Throws when a store can't be opened or an address is taken. */
export async function startGateway(
  config: Config,
  log: Log,
  { now = Date.now, showsEchoPage = false, resolve, creates = 'first-start' }: StartOptions = {},
): Promise<RunningGateway> {
  const parts = await createProcessParts(config, log, { now, resolve });
  const { registry } = parts.metrics;
  const reloads = addReloads(registry);

  // The first listener to open: probes see that the process lives, and what it waits for.
  const management = createManagement(parts);
  const managementAddress = await management.listen(config.management.host, config.management.port);
  const storeFiles = readStoreFiles(config);
  const restartOnly = rememberStart(storeFiles);
  let certificates: ListenerCertificates | undefined;
  let serving: ServingGateway | undefined;
  try {
    certificates = new ListenerCertificates(config, { log, reloads, registry, now }, (tls) =>
      serving?.renewTls(tls),
    );
    const { host, port } = config.listen;
    serving = await startServing(config, parts, {
      content: { readFile: readFrom(readConfiguredFiles(config)), tls: certificates.current },
      readStoreFile: readFrom(storeFiles),
      showsEchoPage,
      creates,
      appliesManaged: true,
      listen: (listener) => listener.listen(host, port, false),
      listenForDecisions: (listeners) => listeners.listen(config.forward_auth, false),
    });
  } catch (error) {
    certificates?.close();
    await management.close();
    throw error;
  }
  const started = serving;
  return new RunningGateway({
    config,
    log,
    reloads,
    restartOnly,
    managed: new ManagedReadings(config, { log, reloads, inForce: () => started.configurationInForce() }),
    certificates,
    management,
    managementAddress,
    serving,
  });
}

function createManagement({ metrics, readiness, current }: ProcessParts): ManagementServer {
  return new ManagementServer({
    metrics: metrics.registry,
    readiness,
    assertionKeys: async () => current.serving?.assertionKeys() ?? null,
    maxConnections: managementConnections(),
  });
}
