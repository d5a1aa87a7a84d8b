import { setTimeout as sleep } from 'node:timers/promises';
import { type Contestant, type Field, playRounds, type RoundSettings } from './field.ts';
import { firstSuccess } from './first-success.ts';
import { holdIdleConnections } from './idle-connections.ts';
import type { RunningPeer } from './peers/peer.ts';
import { median } from './rows.ts';
import { residentMiB } from './usage.ts';

/** Idle connections whose memory is measured; each has had a response before. */
export const idleConnections = 10_000;

/** How a peer starts, and what memory it takes without load: medians over the rounds. */
export interface FootprintRow {
  readonly name: string;
  /** From its start to its first 200. */
  readonly startMs: number;
  /** After its first response; undefined if memory was not measured. */
  readonly memory: IdleMemory | undefined;
}

/** Memory of all the peer's processes, in MiB. */
export interface IdleMemory {
  readonly withoutConnectionsMiB: number;
  readonly withConnectionsMiB: number;
  /** Connections that the peer kept open. */
  readonly held: number;
}

/** One round. */
export type FootprintSample = Omit<FootprintRow, 'name'>;

const settleMs = 2000;

/** Descriptors that each process may have to open: Postern keeps back as many for connections to upstreams as clients may take. */
export const neededDescriptors = 2 * idleConnections + 1000;

/** Starts each contestant afresh in each round, and connects to it if memory is measured too. */
export async function measureFootprint(
  field: Field,
  rounds: RoundSettings,
  withMemory: boolean,
): Promise<FootprintRow[]> {
  const turn = async ({ running }: Contestant): Promise<FootprintSample> => {
    const startedAt = await running.restart();
    const startMs = (await firstSuccess(running)) - startedAt;
    return { startMs, memory: withMemory ? await measureMemory(running) : undefined };
  };
  const samples = await playRounds(field, rounds, turn, renderSample);
  return [...samples].map(([name, all]) => summariseFootprint(name, all));
}

/** Makes a row of a peer's samples, of which there is at least one. */
export function summariseFootprint(name: string, samples: readonly FootprintSample[]): FootprintRow {
  const memories = samples.flatMap(({ memory }) => memory ?? []);
  return {
    name,
    startMs: median(samples.map(({ startMs }) => startMs)),
    memory:
      memories.length === 0
        ? undefined
        : {
            withoutConnectionsMiB: median(memories.map((memory) => memory.withoutConnectionsMiB)),
            withConnectionsMiB: median(memories.map((memory) => memory.withConnectionsMiB)),
            held: Math.min(...memories.map((memory) => memory.held)),
          },
  };
}

async function measureMemory(running: RunningPeer): Promise<IdleMemory> {
  await sleep(settleMs);
  const withoutConnectionsMiB = residentMiB(running.pids());
  const idle = await holdIdleConnections(running, idleConnections);
  await sleep(settleMs);
  const withConnectionsMiB = residentMiB(running.pids());
  const held = idle.held();
  idle.close();
  running.inspect?.(idleConnections);
  return { withoutConnectionsMiB, withConnectionsMiB, held };
}

function renderSample({ startMs, memory }: FootprintSample): string {
  const start = `started in ${startMs.toFixed(0)} ms`;
  if (memory === undefined) return start;
  const { withoutConnectionsMiB, withConnectionsMiB, held } = memory;
  return `${start}, ${withoutConnectionsMiB.toFixed(0)} MiB, ${withConnectionsMiB.toFixed(0)} MiB with ${held} connections`;
}
