import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { httpProxy3 } from './peers/http-proxy-3.ts';
import { type Peer, programFile, type RunningPeer } from './peers/peer.ts';
import { posternKey } from './peers/postern.ts';
import { type CpuCost, cpuCost, median } from './rows.ts';
import type { Stage } from './stage.ts';
import { cpuMicroseconds } from './usage.ts';

/** The task of body-load.ts. */
export interface BodyLoad {
  readonly port: number;
  readonly header: string;
  readonly value: string;
  readonly direction: Direction;
  readonly bodies: number;
  readonly bodyBytes: number;
  readonly parallel: number;
}

export type Direction = 'download' | 'upload';

/** What large bodies cost a peer in one direction: medians over the rounds. */
export interface BodyRow {
  readonly name: string;
  readonly direction: Direction;
  /** CPU seconds for a GiB. */
  readonly cpu: CpuCost;
  readonly mebibytesPerSecond: number;
}

export const bodyBytes = 64 * 2 ** 20;
/** A GiB in all: some seconds a window, whatever the machine. */
const bodies = 16;
const parallel = 4;

const directions: readonly Direction[] = ['download', 'upload'];

/** The peers measured with bodies: the one with a bound, and the reference. */
const bodyPeers: readonly Peer[] = [posternKey, httpProxy3];

interface BodySample {
  readonly cpuSeconds: number;
  readonly seconds: number;
}

/** Lets the peers take turns in sending a GiB each way; rejects when one of them fails. */
export async function measureBodies(
  stage: Stage,
  rounds: number,
  say: (line: string) => void,
): Promise<BodyRow[]> {
  const running: [Peer, RunningPeer][] = [];
  for (const peer of bodyPeers) running.push([peer, await stage.start(peer)]);
  const samples = new Map<string, BodySample[]>();
  for (let round = 0; round <= rounds; round += 1) {
    for (const direction of directions)
      for (const [{ name }, peer] of running) {
        const sample = await measure(stage, peer, direction);
        // The first round warms up.
        if (round === 0) continue;
        const key = `${name} ${direction}`;
        samples.set(key, [...(samples.get(key) ?? []), sample]);
        say(`round ${round}/${rounds} ${key}: ${sample.cpuSeconds.toFixed(2)} s of CPU for a GiB`);
      }
  }
  await Promise.all(running.map(([, peer]) => peer.stop()));
  return directions.flatMap((direction) =>
    running.map(([{ name }]) => summarise(name, direction, samples.get(`${name} ${direction}`) ?? [])),
  );
}

async function measure(stage: Stage, peer: RunningPeer, direction: Direction): Promise<BodySample> {
  const { processes, directory, loadCpu: cpu } = stage.settings;
  const file = join(directory, 'body-load.json');
  const { port, credentials } = peer;
  const value = credentials.values[0] ?? '';
  const load: BodyLoad = { port, header: credentials.header, value, direction, bodies, bodyBytes, parallel };
  writeFileSync(file, JSON.stringify(load));
  const pids = peer.pids();
  const before = cpuMicroseconds(pids);
  const args = [programFile('body-load'), file];
  const output = await processes.run({ name: 'body-load', command: process.execPath, args, cpu });
  const spent = (cpuMicroseconds(pids) - before) / 1e6;
  const { seconds } = JSON.parse(output) as { seconds: number };
  return { cpuSeconds: spent / gibibytes, seconds };
}

const gibibytes = (bodies * bodyBytes) / 2 ** 30;

function summarise(name: string, direction: Direction, samples: readonly BodySample[]): BodyRow {
  return {
    name,
    direction,
    cpu: cpuCost(samples.map((sample) => sample.cpuSeconds)),
    mebibytesPerSecond: (gibibytes * 1024) / median(samples.map((sample) => sample.seconds)),
  };
}
