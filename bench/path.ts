import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { constants } from 'node:perf_hooks';
import { setTimeout as sleep } from 'node:timers/promises';
import { parseArgs } from 'node:util';
import { describeMachine } from './machine.ts';
import { loadPeer, measure } from './measure.ts';
import {
  type AllocationProfile,
  allocationsByPart,
  type CpuProfile,
  type Pauses,
  pausesByCause,
  timesByPart,
  withPause,
} from './path/observed.ts';
import { type ObservedPath, renderPaths } from './path/report.ts';
import { decidesForNginx } from './peers/deciders.ts';
import { type Peer, programFile } from './peers/peer.ts';
import { posternBearer, posternKey } from './peers/postern.ts';
import { createStage, type Stage } from './stage.ts';

// What each part of a request's way costs, and what holds up others: writes PROFILE.md, and keeps what was written there
// by hand.
//
// node bench/path.ts [--seconds 10] [--connections 64] [--no-write]

const file = new URL('PROFILE.md', import.meta.url);
const warmupSeconds = 6;
/** Where the part that is written by hand begins. */
const byHand = '## What was tried';

const { values } = parseArgs({
  allowNegative: true,
  options: {
    seconds: { type: 'string', default: '10' },
    connections: { type: 'string', default: '64' },
    write: { type: 'boolean', default: true },
  },
});
const seconds = Number(values.seconds);
const connections = Number(values.connections);

const paths: ObservedPath[] = [];
for (const peer of [posternKey, posternBearer, decidesForNginx]) paths.push(await observePath(peer));
const measured = `# What a request costs, part by part

Made by \`node bench/path.ts\`, on ${new Date().toISOString().slice(0, 10)}: ${describeMachine()}, Node ${process.versions.node}, ${connections} connections.
Times are shares of V8's samples of the whole process, applied to the CPU time of a run without a profiler; a write to a
socket is Node's and the kernel's work for it. Allocations are sampled, what was collected since included. Pauses are what
kept the event loop from serving requests without a break.

${renderPaths(paths)}
`;
process.stdout.write(measured);
if (values.write) {
  const before = existsSync(file) ? readFileSync(file, 'utf8') : '';
  const kept = before.includes(byHand) ? before.slice(before.indexOf(byHand)) : '';
  writeFileSync(file, `${measured}\n${kept}`.trimEnd().concat('\n'));
}

async function observePath(peer: Peer): Promise<ObservedPath> {
  const cpuMicroseconds = await onStage(async (stage) => {
    const running = await stage.start(peer);
    await loadPeer(running, stage.settings, warmupSeconds);
    return (await measure(running, stage.settings, seconds)).cpuMicrosecondsPerRequest;
  });
  const cpu = await observe<CpuProfile>(peer, 'cpu');
  const allocation = await observe<AllocationProfile>(peer, 'allocation');
  const collections = await observe<readonly Collection[]>(peer, 'collections');
  const allocated = [...allocationsByPart(allocation.observed)];
  return {
    name: peer.name,
    cpuMicroseconds,
    times: timesByPart(cpu.observed),
    allocations: new Map(allocated.map(([part, bytes]) => [part, bytes / allocation.requests])),
    pauses: pausesByCause(cpu.observed),
    collections: collectionsByKind(collections.observed),
    seconds,
  };
}

/** On a stage of its own: a peer starts with empty stores. */
async function onStage<T>(play: (stage: Stage) => Promise<T>): Promise<T> {
  const stage = await createStage(connections, 'upstream');
  try {
    return await play(stage);
  } finally {
    stage.clear();
  }
}

interface Collection {
  readonly kind: number;
  readonly ms: number;
}

function collectionsByKind(collections: readonly Collection[]): Map<string, Pauses> {
  const names = new Map<number, string>([
    [constants.NODE_PERFORMANCE_GC_MINOR, 'collection of new objects'],
    [constants.NODE_PERFORMANCE_GC_MAJOR, 'collection of all objects'],
    [constants.NODE_PERFORMANCE_GC_INCREMENTAL, 'collection, a step'],
    [constants.NODE_PERFORMANCE_GC_WEAKCB, 'collection, weak references'],
  ]);
  const byKind = new Map<string, Pauses>();
  for (const { kind, ms } of collections) {
    const name = names.get(kind) ?? `collection of kind ${kind}`;
    byKind.set(name, withPause(byKind.get(name), ms));
  }
  return byKind;
}

/** Runs the peer with the observer loaded, and observes it under load. */
function observe<Observed>(
  peer: Peer,
  kind: string,
): Promise<{ readonly observed: Observed; readonly requests: number }> {
  return onStage(async (stage) => {
    const into = stage.profileDirectory;
    const written = join(into, 'observed.json');
    const observer = `file://${programFile('observe')}?observe=${kind}&into=${encodeURIComponent(into)}`;
    const running = await stage.start(peer, ['--import', observer]);
    const toggle = () => {
      for (const pid of running.pids()) process.kill(pid, 'SIGUSR2');
    };
    await loadPeer(running, stage.settings, warmupSeconds);
    toggle();
    const { requests } = await loadPeer(running, stage.settings, seconds);
    toggle();
    for (let waited = 0; !existsSync(written) && waited < 300; waited++) await sleep(100);
    const observed = JSON.parse(readFileSync(written, 'utf8')) as Observed;
    await running.stop();
    return { observed, requests };
  });
}
