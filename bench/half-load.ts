import { type Contestant, type Field, playRounds, type RoundSettings } from './field.ts';
import { pacePeer, upstreamItself } from './paced.ts';
import { fastest } from './peers/all.ts';
import { median } from './rows.ts';
import type { Stage } from './stage.ts';

/** Latencies over those of the upstream itself at the same rate, in milliseconds. */
export interface Added {
  readonly p50Ms: number;
  readonly p99Ms: number;
}

/** The latency a peer adds at half of the load that saturates it: medians over the rounds. */
export interface HalfLoadRow {
  readonly name: string;
  readonly perSecond: number;
  readonly added: Added;
  /** What the fastest peer adds at this very rate, right after; undefined if it doesn't run. */
  readonly fastest: Added | undefined;
}

/** One round of a peer, of the upstream and of the fastest peer, at the same rate. */
export interface HalfLoadSample {
  readonly added: Added;
  readonly fastest: Added | undefined;
}

/** What a proxy has cached of a networked store grows stale while the others have their turns; the other two cache nothing. */
const resumeSeconds = 1;

/** Beyond it, the generator and the upstream would be what is measured: they share a core. */
export const mostPerSecond = 10_000;

/** Measures each contestant at half of what it took at saturation, given in requests a second. */
export async function measureHalfLoad(
  { settings }: Stage,
  field: Field,
  saturation: ReadonlyMap<string, number>,
  rounds: RoundSettings,
): Promise<HalfLoadRow[]> {
  const upstream = upstreamItself(settings.upstreamPort);
  const rateOf = (name: string) => halfOf(saturation.get(name) ?? 0);
  const turn = async ({ name, running }: Contestant): Promise<HalfLoadSample> => {
    const rate = rateOf(name);
    const window = (peer: typeof running) => pacePeer(peer, settings, rate, rounds.seconds);
    const direct = await window(upstream);
    const over = (latency: Added): Added => ({
      p50Ms: latency.p50Ms - direct.p50Ms,
      p99Ms: latency.p99Ms - direct.p99Ms,
    });
    await pacePeer(running, settings, rate, resumeSeconds);
    const added = over(await window(running));
    if (name === fastest) return { added, fastest: added };
    const other = field.contestants().find((contestant) => contestant.name === fastest);
    return { added, fastest: other && over(await window(other.running)) };
  };
  const samples = await playRounds(
    field,
    rounds,
    turn,
    ({ added }) => `adds ${added.p50Ms.toFixed(2)} ms, p99 ${added.p99Ms.toFixed(2)} ms`,
  );
  return [...samples].map(([name, all]) => summariseHalfLoad(name, rateOf(name), all));
}

/** Half of a rate, within what can be measured. */
export function halfOf(perSecond: number): number {
  return Math.min(Math.max(1, Math.round(perSecond / 2)), mostPerSecond);
}

/** Makes a row of a peer's samples, of which there is at least one. */
export function summariseHalfLoad(
  name: string,
  perSecond: number,
  samples: readonly HalfLoadSample[],
): HalfLoadRow {
  const others = samples.flatMap((sample) => sample.fastest ?? []);
  return {
    ...{ name, perSecond },
    added: medianAdded(samples.map(({ added }) => added)),
    fastest: others.length === 0 ? undefined : medianAdded(others),
  };
}

function medianAdded(all: readonly Added[]): Added {
  return { p50Ms: median(all.map((each) => each.p50Ms)), p99Ms: median(all.map((each) => each.p99Ms)) };
}
