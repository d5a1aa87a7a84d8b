import type { Peer, RunningPeer } from './peers/peer.ts';
import type { Stage } from './stage.ts';

/** A peer that runs, and has proved itself. */
export interface Contestant {
  readonly name: string;
  readonly description: string;
  readonly version: string;
  readonly running: RunningPeer;
}

/** All peers of a run, which take turns in each part of it. */
export interface Field {
  /** Those that have not failed yet. */
  contestants(): readonly Contestant[];
  /** Not installed here. */
  readonly missing: readonly string[];
  /** Peers that did not start, refused a request or broke: no later figure of them is reported. */
  readonly failed: ReadonlySet<string>;
  /** Runs a step for each contestant; one that fails in it is out, and the others go on. */
  inTurn(step: (contestant: Contestant) => Promise<void>): Promise<void>;
  stop(): Promise<void>;
}

/** Starts the peers, one after the other. */
export async function startField(
  stage: Pick<Stage, 'start'>,
  peers: readonly Peer[],
  say: (line: string) => void,
): Promise<Field> {
  const missing: string[] = [];
  const failed = new Set<string>();
  const started: Contestant[] = [];
  const attempt = async (name: string, step: () => Promise<void>) => {
    try {
      await step();
    } catch (error) {
      failed.add(name);
      say(`${name} FAILED: ${error instanceof Error ? error.message : error}`);
    }
  };
  for (const peer of peers) {
    const { name, description } = peer;
    const version = peer.version();
    if (version === undefined) {
      missing.push(name);
      say(`${name}: not installed`);
    } else
      await attempt(name, async () => {
        started.push({ name, description, version, running: await stage.start(peer) });
      });
  }
  const contestants = () => started.filter(({ name }) => !failed.has(name));
  return {
    contestants,
    missing,
    failed,
    async inTurn(step) {
      for (const contestant of contestants()) await attempt(contestant.name, () => step(contestant));
    },
    async stop() {
      await Promise.all(started.map(({ running }) => running.stop()));
    },
  };
}

/** How often and how long each part measures, and where it reports progress. */
export interface RoundSettings {
  readonly rounds: number;
  /** The length of a window. */
  readonly seconds: number;
  readonly say: (line: string) => void;
}

/**
 * Lets the contestants take turns, so that a slow minute of a shared machine falls on all of them; returns the samples of
 * those that took part in every round.
 */
export async function playRounds<Sample>(
  field: Field,
  { rounds, say }: RoundSettings,
  turn: (contestant: Contestant, round: number) => Promise<Sample>,
  render: (sample: Sample) => string,
): Promise<Map<string, Sample[]>> {
  const samples = new Map<string, Sample[]>(field.contestants().map(({ name }) => [name, []]));
  for (let round = 1; round <= rounds; round += 1) {
    await field.inTurn(async (contestant) => {
      const sample = await turn(contestant, round);
      samples.get(contestant.name)?.push(sample);
      say(`round ${round}/${rounds} ${contestant.name}: ${render(sample)}`);
    });
  }
  for (const name of field.failed) samples.delete(name);
  return samples;
}
