import { type Contestant, type Field, playRounds, type RoundSettings } from './field.ts';
import { type PacedSample, pacePeer } from './paced.ts';
import { type CpuCost, cpuCost, median } from './rows.ts';
import type { Stage } from './stage.ts';

/** The loads that are offered to all alike, in requests a second. */
export const offeredRates = [2000, 5000] as const;

/** What a peer makes of an offered load: medians over the rounds. */
export interface OfferedRow {
  readonly name: string;
  readonly perSecond: number;
  readonly cpu: CpuCost;
  readonly p50Ms: number;
  readonly p99Ms: number;
  /** The share of requests that had their response within the window. */
  readonly inTime: number;
}

/** Below this share of responses within the window, the load is more than a peer can take. */
const sustainedShare = 0.98;

const resumeSeconds = 1;

/** Offers every contestant the same load, at one rate after the other. */
export async function measureOffered(
  { settings }: Stage,
  field: Field,
  rounds: RoundSettings,
): Promise<OfferedRow[]> {
  const rows: OfferedRow[] = [];
  for (const perSecond of offeredRates) {
    const turn = async ({ running }: Contestant) => {
      await pacePeer(running, settings, perSecond, resumeSeconds);
      return pacePeer(running, settings, perSecond, rounds.seconds);
    };
    const samples = await playRounds(field, rounds, turn, (sample) => renderSample(perSecond, sample));
    rows.push(...[...samples].map(([name, all]) => summariseOffered(name, perSecond, all)));
  }
  return rows.filter(({ name }) => !field.failed.has(name));
}

/** Makes a row of a peer's samples at one rate, of which there is at least one. */
export function summariseOffered(
  name: string,
  perSecond: number,
  samples: readonly PacedSample[],
): OfferedRow {
  const middle = (figure: (sample: PacedSample) => number) => median(samples.map(figure));
  return {
    ...{ name, perSecond },
    cpu: cpuCost(samples.map((sample) => sample.cpuMicrosecondsPerRequest)),
    p50Ms: middle((sample) => sample.p50Ms),
    p99Ms: middle((sample) => sample.p99Ms),
    inTime: middle((sample) => sample.inTime),
  };
}

/** Whether the peer took all of the load. */
export function isSustained({ inTime }: Pick<OfferedRow, 'inTime'>): boolean {
  return inTime >= sustainedShare;
}

function renderSample(perSecond: number, sample: PacedSample): string {
  const { cpuMicrosecondsPerRequest: cpu, p50Ms, p99Ms, lateP99Ms } = sample;
  const taken = isSustained(sample) ? '' : `, took only ${(sample.inTime * 100).toFixed(0)} %`;
  return `${cpu.toFixed(1)} µs at ${perSecond}/s, p50 ${p50Ms.toFixed(2)} ms, p99 ${p99Ms.toFixed(2)} ms (sent ${lateP99Ms.toFixed(2)} ms late)${taken}`;
}
