import type { AddressInfo } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import type { Config } from '../config/schema.ts';
import type { ManagementServer } from '../http/management.ts';
import type { BackgroundWork } from './background-work.ts';
import { composeGateway, type LastingParts } from './compose.ts';
import type { CurrentGateway } from './current-gateway.ts';
import { applyManaged } from './managed-configuration.ts';
import type { PublicListener } from './public-listener.ts';
import type { rememberStart } from './restart-only.ts';

/** How long the audit events that are left may take at a stop, ms: two attempts at an unavailable store. */
const maxAuditFlushMs = 2_000;

/** What a serving gateway is made of, in the order it was started. */
export interface RunningParts {
  /** What it was started with. */
  readonly config: Config;
  readonly restartOnly: ReturnType<typeof rememberStart>;
  readonly lasting: LastingParts;
  readonly current: CurrentGateway;
  readonly management: ManagementServer;
  readonly managementAddress: AddressInfo;
  readonly listener: PublicListener;
  readonly address: AddressInfo;
  readonly background: BackgroundWork;
  /** The activation token made by Postern until the first user exists; null when there is none to show. */
  readonly bootstrapToken: string | null;
  /** From now on `/readyz` says `draining`. */
  readonly startDraining: () => void;
}

/** A gateway that serves. */
export class RunningGateway {
  readonly address: AddressInfo;
  readonly managementAddress: AddressInfo;
  /** As in {@link RunningParts}. */
  readonly bootstrapToken: string | null;
  readonly #parts: RunningParts;
  #config: Config;

  constructor(parts: RunningParts) {
    this.address = parts.address;
    this.managementAddress = parts.managementAddress;
    this.bootstrapToken = parts.bootstrapToken;
    this.#parts = parts;
    this.#config = parts.config;
  }

  /**
   * Serves by another configuration from now on; requests in flight finish under the old one. What needs a restart
   * stays as it is and is reported. Rejects, with everything as it was, when a file it names can't be used, and as
   * {@link applyManaged} does.
   */
  async reload(wanted: Config): Promise<void> {
    const { lasting, current, listener, restartOnly } = this.#parts;
    const { log, metrics } = lasting;
    const { keys, config: next } = restartOnly(this.#config, wanted);
    // Everything that can fail comes first: until then nothing has changed.
    const prepared = listener.prepare(next);
    const gateway = await composeGateway(next, lasting).catch((error: unknown) => {
      prepared.discard();
      throw error;
    });
    await applyManaged(next, lasting).catch(async (error: unknown) => {
      prepared.discard();
      await gateway.close();
      throw error;
    });
    current.replace(gateway);
    metrics.requests.forget(routesOnlyIn(this.#config, next));
    this.#config = next;
    prepared.apply();
    lasting.descriptors.applyTo(listener, next, log);
    log.configure(next.log);
    metrics.reloaded('configuration', 'applied');
    metrics.restartNeeded(keys.length);
    log.info('configuration reloaded');
    if (keys.length > 0) log.warn('configuration changes need a restart', { keys });
  }

  /** Takes note of a configuration that could not be read; the running one stays. */
  reloadFailed(problems: readonly string[]): void {
    const { log, metrics } = this.#parts.lasting;
    metrics.reloaded('configuration', 'failed');
    log.error('config_reload_failed', { problems });
  }

  /** Drains, writes out what is collected and closes the stores; durations are those of `shutdown`. */
  async stop(): Promise<void> {
    const { startDraining, listener, background, lasting, current, management } = this.#parts;
    startDraining();
    listener.announceClose();
    await sleep(this.#config.shutdown.delay);
    await listener.drain(this.#config.shutdown.timeout);
    background.stop();
    lasting.streams.close();
    listener.close();
    await current.close();
    await background.flush();
    await lasting.auditTrail.close(maxAuditFlushMs);
    await lasting.stores.close();
    await lasting.tracing?.close();
    // Last but for the log: probes ask here whether the drain is over.
    await management.close();
    await lasting.log.close();
  }
}

/** Paths of routes that are gone. */
function routesOnlyIn(before: Config, now: Config): string[] {
  const kept = new Set(now.routes.map(pathOf));
  return before.routes.map(pathOf).filter((path) => !kept.has(path));
}

const pathOf = ({ exact, prefix }: Config['routes'][number]) => exact ?? prefix!;
