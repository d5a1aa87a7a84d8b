import { leastRounds, type Verdict } from './bounds.ts';
import { formatRatio } from './tables.ts';
import { isUpkeepSubject } from './upkeep/figures.ts';

/** One line for each bound: held or not. */
export function renderVerdicts(verdicts: readonly Verdict[]): string {
  return verdicts.map((verdict) => `- ${renderVerdict(verdict)}`).join('\n');
}

/** The result of a run in a few lines: the rows that failed, and the bounds that are not held. */
export function renderOutcome(
  verdicts: readonly Verdict[],
  failed: readonly string[],
  rounds: number,
): string {
  const broken = verdicts.filter(({ passed }) => !passed);
  const lines = [
    rounds < leastRounds && `Too few rounds to judge by: ${rounds} of ${leastRounds}.`,
    failed.length > 0 && `Rows that FAILED: ${failed.join(', ')}.`,
    broken.length > 0 &&
      `Bounds that are NOT HELD: ${broken.length} of ${verdicts.length}.\n\n${renderVerdicts(broken)}`,
    broken.length === 0 && verdicts.length > 0 && `Every bound is held: ${verdicts.length}.`,
  ];
  return lines.filter((line) => line !== false).join('\n\n');
}

function renderVerdict({ peer, of, against, figure, atMost, passed }: Verdict): string {
  const found = figure === undefined ? 'not measured' : formatRatio(figure);
  const outcome = `${found}, ${passed ? 'held' : 'NOT HELD'}`;
  if (isUpkeepSubject(of)) {
    const more = against === undefined ? '' : ` more than ${against}`;
    return `${peer}, ${of} at most ${formatRatio(atMost)}${more}: ${outcome}`;
  }
  const isCost = of === 'CPU µs added';
  const subject = isCost ? `saturation: ${of}` : /added/.test(of) ? `half load: ${of}` : `${of}: CPU`;
  const limit = `${against === undefined ? '' : ` ${isCost ? 'to' : '÷'} ${against}`} at most ${formatRatio(atMost)}`;
  const unit = against !== undefined ? '' : of === 'decision' ? ' µs' : ' ms';
  return `${peer}, ${subject}${limit}${unit}: ${outcome}`;
}
