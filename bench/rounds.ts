import { loadPeer, measure, type Sample } from './measure.ts';
import type { Peer, RunningPeer } from './peers/peer.ts';
import { type Row, summarise } from './rows.ts';
import type { Stage } from './stage.ts';
import { peakMemoryMiB } from './usage.ts';

/** V8 takes about this long to optimise a proxy; only needed before the first turn. */
const warmupSeconds = 6;

/** Before each window: what a proxy has cached of a networked store grows stale while the others have their turns. */
const resumeSeconds = 1;

/** A peer with what was measured of it so far. */
interface Contestant {
  readonly peer: Peer;
  readonly version: string;
  readonly running: RunningPeer;
  readonly samples: Sample[];
}

/** The rows measured, and the peers that were to run and didn't. */
export interface Outcome {
  readonly rows: readonly Row[];
  /** Not installed here. */
  readonly missing: readonly string[];
  /** Peers that did not start, refused a request or broke: they have no row. */
  readonly failed: readonly string[];
}

/** How long and how often to measure, and where to report progress. */
export interface RoundSettings {
  readonly rounds: number;
  readonly seconds: number;
  readonly say: (line: string) => void;
}

/**
 * Starts every peer, then lets them take turns, so that a slow minute of a shared machine falls on all of them.
 * A peer that fails is reported and dropped; the others continue.
 */
export async function runRounds(
  stage: Stage,
  peers: readonly Peer[],
  settings: RoundSettings,
): Promise<Outcome> {
  const { rounds, seconds, say } = settings;
  const missing: string[] = [];
  const failed = new Set<string>();
  const contestants: Contestant[] = [];
  const attempt = async (name: string, step: () => Promise<void>) => {
    try {
      await step();
    } catch (error) {
      failed.add(name);
      say(`${name} FAILED: ${error instanceof Error ? error.message : error}`);
    }
  };

  for (const peer of peers) {
    const version = peer.version();
    if (version === undefined) {
      missing.push(peer.name);
      say(`${peer.name}: not installed`);
      continue;
    }
    await attempt(peer.name, async () => {
      contestants.push({ peer, version, running: await stage.start(peer), samples: [] });
    });
  }

  for (let round = 1; round <= rounds; round += 1) {
    for (const { peer, running, samples } of contestants) {
      if (failed.has(peer.name)) continue;
      await attempt(peer.name, async () => {
        await loadPeer(running, stage.settings, round === 1 ? warmupSeconds : resumeSeconds);
        const sample = await measure(running, stage.settings, seconds);
        samples.push(sample);
        say(`round ${round}/${rounds} ${peer.name}: ${renderSample(sample)}`);
      });
    }
  }

  const finished = contestants.filter(({ peer }) => !failed.has(peer.name));
  const rows = finished.map(({ peer, version, running, samples }) => {
    const { name, description } = peer;
    return summarise({ name, description, version, peakMemoryMiB: peakMemoryMiB(running.pids()) }, samples);
  });
  await Promise.all(contestants.map(({ running }) => running.stop()));
  return { rows, missing, failed: [...failed] };
}

function renderSample({ requestsPerSecond, cpuMicrosecondsPerRequest }: Sample): string {
  return `${requestsPerSecond.toFixed(0)} requests/s, ${cpuMicrosecondsPerRequest.toFixed(1)} µs`;
}
