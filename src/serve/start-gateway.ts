import type { Config } from '../config/sections/schema.ts';
import type { Log } from '../log/log.ts';
import type { Resolve } from '../names/system-resolver.ts';
import type { Creation } from '../runtime/store-files.ts';
import { createProcessParts } from './process-parts.ts';
import { listenerAddresses, type RunningGateway, runGateway } from './running-gateway.ts';
import { startProcess } from './start-process.ts';

/** Options of a gateway apart from its configuration. */
export interface StartOptions {
  /** The clock, epoch ms. */
  readonly now?: () => number;
  /** True if browsers get a page from `builtin:echo`; by default, everyone gets JSON. */
  readonly showsEchoPage?: boolean;
  /** Finds the addresses of host names; default: as this system is configured. */
  readonly resolve?: Resolve;
  /** Cases in which missing files of stores are created; default: `first-start`. */
  readonly creates?: Creation;
}

/** Starts a gateway in this process alone. Throws when a store can't be opened or an address is taken. */
export async function startGateway(
  config: Config,
  log: Log,
  { now = Date.now, showsEchoPage = false, resolve, creates = 'first-start' }: StartOptions = {},
): Promise<RunningGateway> {
  const parts = await createProcessParts(config, log, { now, resolve });
  const { metrics, readiness, current } = parts;
  return runGateway(config, {
    log,
    registry: metrics.registry,
    now,
    management: {
      metrics: metrics.registry,
      readiness,
      assertionKeys: async () => current.serving?.parts.assertionKeys() ?? null,
    },
    start: (initial, storeFiles) =>
      startProcess(initial, parts, {
        storeFiles,
        showsEchoPage,
        creates,
        appliesManaged: true,
        addresses: async () => listenerAddresses(config),
        sharesPorts: false,
      }),
  });
}
