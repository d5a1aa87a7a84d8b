import { setTimeout as sleep } from 'node:timers/promises';
import { applyManaged } from '../administration/managed.ts';
import { readFrom } from '../config/configured-files.ts';
import type { Config } from '../config/sections/schema.ts';
import { composeGateway } from '../gateway/compose.ts';
import type { CurrentGateway } from '../gateway/current-gateway.ts';
import type { Gateway } from '../gateway/gateway.ts';
import type { LastingParts } from '../gateway/lasting-parts.ts';
import { routesOnlyIn } from '../gateway/routes-only-in.ts';
import type { ListenersTls } from '../listeners/listener-certificates.ts';
import type { Listeners } from '../listeners/listeners.ts';
import type { BackgroundWork } from '../runtime/background-work.ts';
import type { ConfigurationInForce, ManagedOutcome, ManagedReading } from '../stores/managed-records.ts';
import type { CompleteConfiguration, Opened, Serving } from './running-gateway.ts';

/** Maximum time to write the remaining audit events at a stop, ms: two attempts if the store is unavailable. */
const maxAuditFlushMs = 2_000;

/** Parts of a {@link ServingProcess}. */
export interface ServingParts {
  /** The configuration at the start. */
  readonly config: Config;
  readonly lasting: LastingParts;
  readonly current: CurrentGateway;
  readonly startDraining: () => void;
  readonly listeners: Listeners;
  readonly background: BackgroundWork;
  readonly opened: Opened;
}

/** A process that serves requests, alone or as one of several in a gateway: its listeners, stores and background work. */
export class ServingProcess implements Serving {
  readonly opened: Opened;
  readonly #parts: ServingParts;
  #config: Config;

  constructor(parts: ServingParts) {
    this.opened = parts.opened;
    this.#parts = parts;
    this.#config = parts.config;
  }

  async reload(next: CompleteConfiguration, reading: ManagedReading): Promise<ManagedOutcome['outcome']> {
    const gateway = await this.#compose(next);
    const { lasting } = this.#parts;
    const { stores, auditTrail, log } = lasting;
    const options = { ...stores, ...auditTrail, log, reading };
    const { outcome } = await applyManaged(next.config, options).catch(async (error: unknown) => {
      await gateway.close();
      throw error;
    });
    this.#serveBy(gateway, next);
    return outcome;
  }

  /** As {@link reload}, once another process of the gateway has applied the users and scope sets. */
  async adopt(next: CompleteConfiguration): Promise<void> {
    this.#serveBy(await this.#compose(next), next);
  }

  #compose({ config, files }: CompleteConfiguration): Promise<Gateway> {
    return composeGateway(config, this.#parts.lasting, readFrom(files));
  }

  #serveBy(gateway: Gateway, { config, tls }: CompleteConfiguration): void {
    const { current, listeners, lasting } = this.#parts;
    current.replace(gateway);
    const gone = routesOnlyIn(this.#config, config);
    lasting.metrics.requests.forget(gone);
    lasting.metrics.decisions.forget(gone);
    this.#config = config;
    listeners.apply(config, tls);
    lasting.descriptors.applyTo(listeners.clients, config, lasting.log);
    lasting.log.configure(config.log);
  }

  async configurationInForce(): Promise<ConfigurationInForce | undefined> {
    return this.#parts.lasting.stores.records.configurationInForce();
  }

  renewTls(tls: ListenersTls): void {
    this.#parts.listeners.renewTls(tls);
  }

  /**
   * Drains, writes out all collected data and closes the stores; durations are those of `shutdown`. The log stays open.
   * `delayMs`: time for which connections are still accepted.
   */
  async stop(delayMs = this.#config.shutdown.delay): Promise<void> {
    const { startDraining, listeners, background, lasting, current } = this.#parts;
    startDraining();
    listeners.announceClose();
    await sleep(delayMs);
    await listeners.drain(this.#config.shutdown.timeout);
    background.stop();
    lasting.streams.close();
    listeners.close();
    await current.serving?.close();
    await background.flush();
    await lasting.auditTrail.close(maxAuditFlushMs);
    await lasting.stores.close();
    await lasting.tracing?.close();
  }
}
