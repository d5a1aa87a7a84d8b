import type { BurstResult, LoadGenerator } from './load/generator.ts';
import type { Peer, RunningPeer } from './peers/peer.ts';
import type { Processes } from './processes.ts';
import { cpuMicroseconds } from './usage.ts';

/** What every window of a run has in common. */
export interface WindowSettings {
  readonly processes: Processes;
  readonly directory: string;
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

/** The requested path: its response is 1 KiB of JSON. */
const target = '/api/store/item';

/** Asks once with a good credential and, where one is checked, once with a bad one: a peer that only seems to work is not measured. */
export async function probe(peer: Peer, { port, credentials }: RunningPeer): Promise<void> {
  const url = `http://127.0.0.1:${port}${target}`;
  const good = await fetch(url, { headers: { [credentials.header]: credentials.values.at(-1) ?? '' } });
  const body = await good.arrayBuffer();
  if (good.status !== 200 || body.byteLength !== 1024) {
    throw new Error(`answered ${good.status} with ${body.byteLength} bytes, not 200 with 1024`);
  }
  if (peer.refusal === undefined) return;
  const bad = await fetch(url, { headers: { [credentials.header]: 'unknown' } });
  await bad.arrayBuffer();
  if (bad.status !== peer.refusal) {
    throw new Error(`answered ${bad.status} to a bad credential, not ${peer.refusal}`);
  }
}

/** Loads a peer for so many seconds; rejects when a request failed or had any response but success. */
export async function loadPeer(
  running: RunningPeer,
  { loadCpu, generator, ...settings }: WindowSettings,
  seconds: number,
): Promise<BurstResult> {
  const { credentials, port } = running;
  const url = `http://127.0.0.1:${port}${target}`;
  const result = await generator.run({ ...settings, cpu: loadCpu, url, credentials, seconds });
  if (result.requests === 0 || Object.keys(result.failures).length > 0) {
    const failures = JSON.stringify(result.failures);
    throw new Error(`${result.requests} answers, failures ${failures}`);
  }
  running.inspect?.(result.requests);
  return result;
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
