import type { Credentials } from '../peers/peer.ts';
import type { Processes } from '../processes.ts';

/** One burst of load on one peer. */
export interface Burst {
  readonly processes: Processes;
  /** A folder for the generator's files. */
  readonly directory: string;
  readonly cpu: number | undefined;
  readonly url: string;
  readonly credentials: Credentials;
  /** Further headers of each request. */
  readonly headers?: Readonly<Record<string, string>>;
  readonly connections: number;
  readonly seconds: number;
}

/** What the generator saw. Latencies in milliseconds. */
export interface BurstResult {
  readonly requests: number;
  readonly seconds: number;
  readonly p50Ms: number;
  readonly p99Ms: number;
  /** Answers other than 2xx, and connections that failed, by kind; only kinds that occurred. */
  readonly failures: Readonly<Record<string, number>>;
}

/** A load generator. */
export interface LoadGenerator {
  readonly name: string;
  /** Undefined where it is not installed. */
  version(): string | undefined;
  run(burst: Burst): Promise<BurstResult>;
}

/** The counts that are not zero. */
export function occurred(counts: Record<string, number>): Record<string, number> {
  return Object.fromEntries(Object.entries(counts).filter(([, count]) => count > 0));
}
