import { paceLoad } from './load/paced-load.ts';
import { accept, urlOf, type WindowSettings } from './measure.ts';
import type { RunningPeer } from './peers/peer.ts';
import { cpuMicroseconds } from './usage.ts';

/** One window at a constant rate. */
export interface PacedSample {
  readonly cpuMicrosecondsPerRequest: number;
  readonly p50Ms: number;
  readonly p99Ms: number;
  /** Of the requests that were due, the share whose responses came within the window. */
  readonly inTime: number;
  /** The generator's own delay. */
  readonly lateP99Ms: number;
}

/** Sends so many requests a second; rejects when one of them failed. */
export async function pacePeer(
  running: RunningPeer,
  { loadCpu, ...settings }: WindowSettings,
  perSecond: number,
  seconds: number,
): Promise<PacedSample> {
  const { credentials } = running;
  const pids = running.pids();
  const before = cpuMicroseconds(pids);
  const url = urlOf(running);
  const result = await paceLoad({ ...settings, cpu: loadCpu, url, credentials, seconds, perSecond });
  const spent = cpuMicroseconds(pids) - before;
  accept(running, result);
  const { p50Ms, p99Ms, lateP99Ms } = result;
  return {
    ...{ p50Ms, p99Ms, lateP99Ms },
    cpuMicrosecondsPerRequest: spent / result.requests,
    inTime: result.inTime / result.due,
  };
}

/** The upstream itself, as if it were a peer: what the latency that a peer adds is measured from. */
export function upstreamItself(port: number): RunningPeer {
  const nothing = async () => {};
  return {
    port,
    credentials: { header: 'X-API-Key', values: ['of no importance'] },
    pids: () => [],
    restart: async () => performance.now(),
    stop: nothing,
  };
}
