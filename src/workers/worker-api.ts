import type { AddressInfo } from 'node:net';
import type { ConfiguredFiles } from '../config/configured-files.ts';
import type { Config } from '../config/sections/schema.ts';
import type { Readiness } from '../http/readiness.ts';
import type { ListenersTls } from '../listeners/listener-certificates.ts';
import type { MetricSnapshot } from '../metrics/registry.ts';
import type { Creation } from '../runtime/store-files.ts';
import type {
  ConfigurationInForce,
  ManagedOutcome,
  ManagedReading,
  ManagedRecords,
} from '../stores/managed-records.ts';
import type { ListeningPlace } from './claimed-ports.ts';

/** A configuration as a worker gets it: nothing is left to be read. */
export interface HandedConfiguration {
  /** For this worker alone, with its part of each limit of the gateway. */
  readonly config: Config;
  /** Content of the files, except those of the stores. */
  readonly files: ConfiguredFiles;
  readonly tls: ListenersTls;
}

/** How a worker starts. */
export interface WorkerStart extends HandedConfiguration {
  /** Content of the stores' files at the start of the gateway, whatever they have now. */
  readonly storeFiles: ConfiguredFiles;
  /** Whether the log is read on a terminal. */
  readonly isTerminal: boolean;
  readonly showsEchoPage: boolean;
  readonly creates: Creation;
  /** The name of the gateway in `Postern-Via`. */
  readonly via: string;
  /** As in {@link ServingOptions}. */
  readonly appliesManaged: boolean;
}

/** A worker that accepts connections. */
export interface StartedWorker {
  readonly address: AddressInfo;
  readonly bootstrapToken: string | null;
}

/** What a worker does when the supervisor says so. */
export interface WorkerFunctions {
  /** Serves; rejects as {@link startServing} does. */
  start(start: WorkerStart): Promise<StartedWorker>;
  /** Builds another configuration; exactly one of `apply` and `discard` follows, or another `prepare` in its place. */
  prepare(next: HandedConfiguration): Promise<void>;
  /** Applies the users and scope sets of the prepared configuration. */
  applyManaged(reading: ManagedReading): Promise<ManagedOutcome['outcome']>;
  /** Serves by the prepared configuration. */
  apply(): void;
  discard(): Promise<void>;
  renewTls(tls: ListenersTls): void;
  readiness(): Promise<Readiness>;
  metrics(): Promise<MetricSnapshot[]>;
  /** As {@link ManagedRecords.configurationInForce}. */
  configurationInForce(): Promise<ConfigurationInForce | undefined>;
  /** The public keys of assertions. */
  assertionKeys(): Promise<object | null>;
  /** Drains and ends the process. */
  stop(): void;
}

/** What a worker tells or asks the supervisor. */
export interface SupervisorFunctions {
  /** It can be called from now on. */
  loaded(): void;
  /** Resolves, when it is about to listen, to where all workers do: see {@link sharedPlaces}. */
  places(): Promise<readonly ListeningPlace[]>;
  /** What it has counted so far. */
  counted(counts: readonly MetricSnapshot[]): void;
}
