import { readFileSync } from 'node:fs';
import { findPackageJSON } from 'node:module';
import { fileURLToPath } from 'node:url';
import type { LoadGenerator } from '../load/generator.ts';
import type { Processes } from '../processes.ts';

/** How many distinct credentials the load cycles through. */
export const credentialCount = 1000;

const parallelCreations = 8;

/** The header that carries the credential, and its values. */
export interface Credentials {
  readonly header: string;
  readonly values: readonly string[];
}

/** Makes one for each that the load cycles through, a few at a time: within the limits that proxies set sign-ins. */
export async function createCredentials(create: (index: number) => Promise<string>): Promise<string[]> {
  const values: string[] = [];
  for (let first = 0; first < credentialCount; first += parallelCreations) {
    const length = Math.min(parallelCreations, credentialCount - first);
    const batch = Array.from({ length }, (_, offset) => create(first + offset));
    values.push(...(await Promise.all(batch)));
  }
  if (new Set(values).size !== credentialCount) throw new Error('the credentials are not distinct');
  return values;
}

/** What a peer needs to start. */
export interface Surroundings {
  readonly processes: Processes;
  /** A folder for the peer's files, removed at the end. */
  readonly directory: string;
  readonly upstreamPort: number;
  /** The CPU its processes are pinned to; undefined: none. */
  readonly cpu: number | undefined;
  /** Keys for peers that have a static list. */
  readonly keys: readonly string[];
  /** Arguments for Node itself, before the program's (a profiler's switch); peers not made of Node ignore them. */
  readonly nodeArguments: readonly string[];
}

/** A peer that is listening on loopback. */
export interface RunningPeer {
  readonly port: number;
  readonly credentials: Credentials;
  /** What it is asked for. Default: what the upstream answers with 1 KiB of JSON. */
  readonly target?: string;
  /** Further headers of each request. */
  readonly headers?: Readonly<Record<string, string>>;
  /** What loads it to saturation. Default: what the stage has for HTTP/1.1. */
  readonly generator?: LoadGenerator;
  /** Every process whose CPU and memory is the peer's. */
  pids(): number[];
  /** Ends the proxy itself and starts it again, on the same port and with the same state; when, by performance.now(). */
  restart(): Promise<number>;
  /** Called after each window with the number of requests served; throws if the peer did less than it is measured for. */
  inspect?(requests: number): void;
  stop(): Promise<void>;
}

/** One row of the results. */
export interface Peer {
  readonly name: string;
  /** What it does for each request, for the results. */
  readonly description: string;
  /** The HTTP status for an unknown credential; undefined: it checks none. */
  readonly refusal: number | undefined;
  /** The header in which it tells the upstream who is calling; undefined: it doesn't. */
  readonly identity: string | undefined;
  /** Its version; undefined where it is not installed. */
  version(): string | undefined;
  /** Starts it in front of the upstream; rejects if it fails to start. */
  start(surroundings: Surroundings): Promise<RunningPeer>;
  /** Rejects unless it refuses a bad credential, and names the caller for a good one. Default: as a proxy does. */
  prove?(running: RunningPeer): Promise<void>;
}

/** The version of an installed package; undefined when it is not installed. */
export function packageVersion(name: string): string | undefined {
  try {
    const file = findPackageJSON(name, import.meta.url);
    return file === undefined ? undefined : JSON.parse(readFileSync(file, 'utf8')).version;
  } catch {
    return undefined;
  }
}

/** The path of a program in bench/programs. */
export function programFile(name: string): string {
  return fileURLToPath(new URL(`../programs/${name}.ts`, import.meta.url));
}
