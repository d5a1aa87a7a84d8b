import { mkdirSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { firstSuccess } from './first-success.ts';
import { chooseLoadGenerator } from './load/choose.ts';
import { choosePinning, freePort, type Pinning } from './machine.ts';
import type { WindowSettings } from './measure.ts';
import { startListening } from './peers/launch.ts';
import { type Peer, programFile, type RunningPeer, type Surroundings } from './peers/peer.ts';
import { createStaticKeys } from './peers/static-keys.ts';
import { probe } from './probe.ts';
import { createProcesses } from './processes.ts';

/** What all peers share: the upstream, the load generator, the pinning, and a folder that is deleted after the run. */
export interface Stage {
  readonly pinning: Pinning;
  readonly settings: WindowSettings;
  /** Where a profiler may write. */
  readonly profileDirectory: string;
  /** Starts a peer and lets it prove itself; rejects if it doesn't work. */
  start(peer: Peer, nodeArguments?: readonly string[]): Promise<RunningPeer>;
  /** Kills all that was started and removes the folder; synchronous, and any number of times. */
  clear(): void;
}

/** Sets the stage: starts the upstream, a program with those arguments after its port, on the load generator's CPU. */
export async function createStage(
  connections: number,
  upstreamProgram: string,
  ...upstreamArguments: readonly string[]
): Promise<Stage> {
  const directory = mkdtempSync(join(tmpdir(), 'postern-bench-'));
  const profileDirectory = join(directory, 'profile');
  mkdirSync(profileDirectory);
  const processes = createProcesses(directory);
  const clear = () => {
    processes.killAll();
    rmSync(directory, { recursive: true, force: true });
  };
  process.on('exit', clear);
  for (const [signal, code] of [
    ['SIGINT', 130],
    ['SIGTERM', 143],
  ] as const) {
    process.once(signal, () => process.exit(code));
  }

  const pinning = choosePinning();
  const upstreamPort = await freePort();
  const surroundings: Surroundings = {
    processes,
    directory,
    upstreamPort,
    cpu: pinning.proxy,
    keys: createStaticKeys(),
    nodeArguments: [],
  };
  const upstream = {
    name: 'upstream',
    command: process.execPath,
    args: [programFile(upstreamProgram), String(upstreamPort), ...upstreamArguments],
  };
  await startListening({ ...surroundings, cpu: pinning.load }, upstream, upstreamPort);

  return {
    pinning,
    settings: {
      ...{ processes, directory, upstreamPort, connections, loadCpu: pinning.load },
      generator: chooseLoadGenerator(),
    },
    profileDirectory,
    async start(peer, nodeArguments = []) {
      const running = await peer.start({ ...surroundings, nodeArguments });
      if (peer.prove === undefined) {
        await firstSuccess(running);
        await probe(peer, running, upstreamPort);
      } else await peer.prove(running);
      return running;
    },
    clear,
  };
}
