import type { Running } from '../processes.ts';
import type { Surroundings } from './peer.ts';

/** A store server of Postern, for a row of its own. */
export interface StoreServer {
  /** Its name and version; undefined where it is not installed. */
  version(): string | undefined;
  start(surroundings: Surroundings): Promise<RunningStore>;
}

/** One that runs. */
export interface RunningStore {
  /** What Postern keeps there, and the address. */
  readonly stores: { readonly records?: string; readonly sessions?: string };
  /** Programs whose CPU time and memory count as the peer's; they are stopped with it. */
  readonly counted: readonly Running[];
  /** Stops what is not counted. */
  stop(): Promise<void>;
}
