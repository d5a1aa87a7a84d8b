import type { BurstResult, LoadGenerator } from './load/generator.ts';
import type { RunningPeer } from './peers/peer.ts';
import type { Processes } from './processes.ts';
import { cpuMicroseconds } from './usage.ts';

/** What every window of a run has in common. */
export interface WindowSettings {
  readonly processes: Processes;
  readonly directory: string;
  readonly upstreamPort: number;
  readonly generator: LoadGenerator;
  /** The CPU of the load generator; undefined: not pinned. */
  readonly loadCpu: number | undefined;
  readonly connections: number;
}

/** One measured window of one peer. */
export interface Sample {
  readonly requestsPerSecond: number;
  readonly p50Ms: number;
  readonly p99Ms: number;
  /** CPU time of all the peer's processes over the window, per request served in it. */
  readonly cpuMicrosecondsPerRequest: number;
}

/** Where the load goes. */
export function urlOf({ port, target = '/api/store/item' }: Pick<RunningPeer, 'port' | 'target'>): string {
  return `http://127.0.0.1:${port}${target}`;
}

/** Loads a peer for so many seconds; rejects when a request failed or had any response but success. */
export async function loadPeer(
  running: RunningPeer,
  { loadCpu, generator, ...settings }: WindowSettings,
  seconds: number,
): Promise<BurstResult> {
  const { credentials, headers } = running;
  const url = urlOf(running);
  const burst = { ...settings, cpu: loadCpu, url, credentials, headers, seconds };
  const result = await (running.generator ?? generator).run(burst);
  accept(running, result);
  return result;
}

/** Throws unless every request of a burst had success for a response, and the peer did for it what it is measured for. */
export function accept(running: RunningPeer, { requests, failures }: BurstResult): void {
  if (requests === 0 || Object.keys(failures).length > 0) {
    throw new Error(`${requests} answers, failures ${JSON.stringify(failures)}`);
  }
  running.inspect?.(requests);
}

/** Measures a warm peer; CPU time is read around the very window whose requests are counted. */
export async function measure(
  running: RunningPeer,
  settings: WindowSettings,
  seconds: number,
): Promise<Sample> {
  const pids = running.pids();
  const before = cpuMicroseconds(pids);
  const result = await loadPeer(running, settings, seconds);
  const spent = cpuMicroseconds(pids) - before;
  return {
    requestsPerSecond: result.requests / result.seconds,
    p50Ms: result.p50Ms,
    p99Ms: result.p99Ms,
    cpuMicrosecondsPerRequest: spent / result.requests,
  };
}
