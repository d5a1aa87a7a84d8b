import type { Readiness } from '../http/readiness.ts';
import type { ListenersTls } from '../listeners/listener-certificates.ts';
import type { MetricSnapshot } from '../metrics/registry.ts';
import type { CompleteConfiguration, ListenerAddresses, Opened } from '../serve/running-gateway.ts';
import type { ProcessStart } from '../serve/start-process.ts';
import type { ConfigurationInForce, ManagedOutcome, ManagedReading } from '../stores/managed-records.ts';

/** The start of a worker, whose configuration has its part of each limit of the gateway. */
export interface WorkerStart
  extends CompleteConfiguration,
    Pick<ProcessStart, 'storeFiles' | 'showsEchoPage' | 'creates' | 'appliesManaged'> {
  /** True if the log is written to a terminal. */
  readonly isTerminal: boolean;
  /** The name of the gateway in `Postern-Via`. */
  readonly via: string;
}

/** Functions of a worker that the supervisor calls. */
export interface WorkerFunctions {
  /** Opens the stores; resolves when the worker is about to listen. */
  open(start: WorkerStart): Promise<void>;
  /** Listens and serves; called once, after {@link open}. */
  listen(addresses: ListenerAddresses): Promise<Opened>;
  /** As {@link Serving.reload}. */
  reload(next: CompleteConfiguration, reading: ManagedReading): Promise<ManagedOutcome['outcome']>;
  /** As {@link reload}, once another worker has applied the users and scope sets. */
  adopt(next: CompleteConfiguration): Promise<void>;
  renewTls(tls: ListenersTls): void;
  /** Does nothing: the response shows that the worker runs. */
  ping(): void;
  readiness(): Promise<Readiness>;
  metrics(): Promise<MetricSnapshot[]>;
  configurationInForce(): Promise<ConfigurationInForce | undefined>;
  /** The public keys of assertions; null until the first configuration serves. */
  assertionKeys(): Promise<object | null>;
  /** Drains and ends the process. */
  stop(): void;
}
