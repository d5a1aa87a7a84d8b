import type { AddressInfo } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import type { ReadFile } from '../config/configured-files.ts';
import type { Config } from '../config/sections/schema.ts';
import { composeGateway, type LastingParts } from '../gateway/compose.ts';
import type { CurrentGateway } from '../gateway/current-gateway.ts';
import { routesOnlyIn } from '../gateway/routes-only-in.ts';
import type { DecisionListeners } from '../listeners/decision-listeners.ts';
import type { FailedHandshakes } from '../listeners/failed-handshakes.ts';
import type { HttpListener } from '../listeners/http-listener.ts';
import type { ListenersTls } from '../listeners/listener-certificates.ts';
import type { BackgroundWork } from '../runtime/background-work.ts';
import { applyManaged } from '../runtime/managed-configuration.ts';
import type {
  ConfigurationInForce,
  ManagedOutcome,
  ManagedReading,
  ManagedRecords,
} from '../stores/managed-records.ts';

/** How long the audit events that are left may take at a stop, ms: two attempts at an unavailable store. */
const maxAuditFlushMs = 2_000;

/** Content of the files named by a configuration, except those of the stores. */
export interface ConfigurationContent {
  readonly readFile: ReadFile;
  readonly tls: ListenersTls;
}

/** What a serving gateway is made of, in the order it was started. */
export interface ServingParts {
  /** What it was started with. */
  readonly config: Config;
  readonly lasting: LastingParts;
  readonly current: CurrentGateway;
  readonly startDraining: () => void;
  readonly listener: HttpListener;
  readonly handshakes: FailedHandshakes;
  readonly address: AddressInfo;
  readonly decisions: DecisionListeners;
  /** In the order of `forward_auth`. */
  readonly decisionAddresses: readonly AddressInfo[];
  readonly background: BackgroundWork;
  /** The activation token made by Postern until there is an administrator; null when there is none to show. */
  readonly bootstrapToken: string | null;
}

/** Another configuration, ready to be served; exactly one of `apply` and `discard` is called. */
export interface PreparedConfiguration {
  /** As {@link applyManaged}; one of several processes does it, before any of them applies the rest. */
  applyManaged(reading: ManagedReading): Promise<ManagedOutcome['outcome']>;
  /** Serves by it from now on; requests in flight finish under the old one. */
  apply(): void;
  discard(): Promise<void>;
}

/** The part of a gateway that serves requests: all of it but the management listener and what reads the configuration. */
export class ServingGateway {
  readonly address: AddressInfo;
  /** As in {@link ServingParts}; so is the next. */
  readonly decisionAddresses: readonly AddressInfo[];
  readonly bootstrapToken: string | null;
  readonly #parts: ServingParts;
  #config: Config;

  constructor(parts: ServingParts) {
    this.address = parts.address;
    this.decisionAddresses = parts.decisionAddresses;
    this.bootstrapToken = parts.bootstrapToken;
    this.#parts = parts;
    this.#config = parts.config;
  }

  /** Builds everything that can fail of another configuration; nothing changes until it is applied. */
  async prepare(next: Config, { readFile, tls }: ConfigurationContent): Promise<PreparedConfiguration> {
    const { lasting } = this.#parts;
    const gateway = await composeGateway(next, lasting, readFile);
    return {
      applyManaged: async (reading) =>
        (await applyManaged(next, { ...lasting, ...lasting.auditTrail, reading })).outcome,
      apply: () => {
        const { current, listener, decisions } = this.#parts;
        current.replace(gateway);
        const gone = routesOnlyIn(this.#config, next);
        lasting.metrics.requests.forget(gone);
        lasting.metrics.decisions.forget(gone);
        this.#config = next;
        listener.apply(next, tls.listen);
        decisions.apply(next, tls);
        lasting.descriptors.applyTo(listener.server, next, lasting.log);
        lasting.log.configure(next.log);
      },
      discard: () => gateway.close(),
    };
  }

  /** As {@link ManagedRecords.configurationInForce}. */
  async configurationInForce(): Promise<ConfigurationInForce | undefined> {
    return this.#parts.lasting.stores.records.configurationInForce();
  }

  /** Uses these certificates for new connections. */
  renewTls(tls: ListenersTls): void {
    if (tls.listen !== null) this.#parts.listener.server.renewTls(tls.listen);
    this.#parts.decisions.renewTls(tls);
  }

  /**
   * Drains, writes out what is collected and closes the stores; durations are those of `shutdown`. The log stays open.
   * `delayMs`: how long connections are still accepted.
   */
  async stop(delayMs = this.#config.shutdown.delay): Promise<void> {
    const { startDraining, listener, handshakes, decisions, background, lasting, current } = this.#parts;
    startDraining();
    listener.server.announceClose();
    decisions.announceClose();
    await sleep(delayMs);
    const { timeout } = this.#config.shutdown;
    await Promise.all([listener.server.drain(timeout), decisions.drain(timeout)]);
    background.stop();
    lasting.streams.close();
    handshakes.close();
    await current.serving?.close();
    await background.flush();
    await lasting.auditTrail.close(maxAuditFlushMs);
    await lasting.stores.close();
    await lasting.tracing?.close();
  }
}
