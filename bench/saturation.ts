import { type Field, playRounds, type RoundSettings } from './field.ts';
import { loadPeer, measure, type Sample } from './measure.ts';
import { type Row, summarise } from './rows.ts';
import type { Stage } from './stage.ts';
import { peakMemoryMiB } from './usage.ts';

/** V8 takes about this long to optimise a proxy; only needed before the first turn. */
const warmupSeconds = 6;

/** Before each window: what a proxy has cached of a networked store grows stale while the others have their turns. */
const resumeSeconds = 1;

/** Measures the contestants under as much load as they take. */
export async function measureSaturation(
  { settings }: Stage,
  field: Field,
  rounds: RoundSettings,
): Promise<Row[]> {
  const samples = await playRounds(
    field,
    rounds,
    async ({ running }, round) => {
      await loadPeer(running, settings, round === 1 ? warmupSeconds : resumeSeconds);
      return measure(running, settings, rounds.seconds);
    },
    renderSample,
  );
  return field
    .contestants()
    .map(({ name, running }) =>
      summarise({ name, peakMemoryMiB: peakMemoryMiB(running.pids()) }, samples.get(name) ?? []),
    );
}

function renderSample({ requestsPerSecond, cpuMicrosecondsPerRequest }: Sample): string {
  return `${requestsPerSecond.toFixed(0)} requests/s, ${cpuMicrosecondsPerRequest.toFixed(1)} µs`;
}
