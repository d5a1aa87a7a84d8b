import { type Alarm, newAlarms } from '../support/corpora/alarms.ts';
import type { FuzzCase } from './fuzz-case.ts';
import type { H11 } from './h11-process.ts';
import { leniencies } from './leniencies.ts';
import { nodeReadings } from './node-reading.ts';
import { ourReading } from './our-reading.ts';
import { type Contradiction, contradiction, escaped, type Reading } from './reading.ts';

/** How each parser read one case. */
export interface Readings {
  readonly whole: Reading;
  /** Our parser's reading of the bytes in two pieces. */
  readonly cut: Reading;
  readonly llhttp: Reading;
  /** Null if it isn't installed. */
  readonly h11: Reading | null;
}

/** Lets every parser read every case. */
export async function readCases(cases: readonly FuzzCase[], h11: H11 | null): Promise<Readings[]> {
  const [llhttp, python] = await Promise.all([nodeReadings(cases), h11?.readings(cases)]);
  return cases.map((each, index) => {
    const bytes = Buffer.from(each.text, 'latin1');
    return {
      whole: ourReading(each, [bytes]),
      cut: ourReading(each, [bytes.subarray(0, each.cut), bytes.subarray(each.cut)]),
      llhttp: llhttp[index]!,
      h11: python?.[index] ?? null,
    };
  });
}

/** The differences between the readings of one case, known or not. */
export function alarmsOf(fuzzed: FuzzCase, { whole, cut, llhttp, h11 }: Readings): Alarm[] {
  const alarms: Alarm[] = [];
  const add = (who: string, found: Contradiction | null) => {
    if (found === null) return;
    const bytes = `${fuzzed.kind} ${escaped(fuzzed.text)} ${fuzzed.method}${fuzzed.ends ? ' ends' : ''}`;
    alarms.push({ kind: `${who} ${found.kind}`, detail: `${bytes} | ${found.detail}` });
  };
  add('cut in two it', contradiction(whole, cut) ?? contradiction(cut, whole) ?? refusalOfOne(whole, cut));
  add('llhttp', contradiction(whole, llhttp));
  if (h11 !== null) add('h11', contradiction(whole, h11));
  return alarms;
}

function refusalOfOne(whole: Reading, cut: Reading): Contradiction | null {
  return (whole.refusal === null) === (cut.refusal === null)
    ? null
    : { kind: 'is refused or not', detail: `${whole.refusal} and ${cut.refusal}` };
}

/** The unexplained alarms of all these cases; `seen` counts what was read. */
export async function judgeCases(
  cases: readonly FuzzCase[],
  h11: H11 | null,
  seen: Tally,
): Promise<{ readonly fuzzed: FuzzCase; readonly alarm: Alarm }[]> {
  const readings = await readCases(cases, h11);
  return cases.flatMap((fuzzed, index) => {
    const { whole } = readings[index]!;
    seen.cases++;
    if (whole.messages.length > 0) seen.accepted++;
    if (whole.refusal !== null) seen.refused++;
    const alarms = alarmsOf(fuzzed, readings[index]!);
    seen.known += alarms.length;
    const fresh = newAlarms(alarms, leniencies);
    seen.known -= fresh.length;
    return fresh.map((alarm) => ({ fuzzed, alarm }));
  });
}

/** How many cases were read, and how: a fuzzer whose every case is refused finds nothing. */
export interface Tally {
  cases: number;
  /** At least a head was accepted. */
  accepted: number;
  /** Something in it was refused. */
  refused: number;
  /** Differences for a known reason. */
  known: number;
}
