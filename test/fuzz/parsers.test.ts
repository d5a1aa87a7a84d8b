import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import t from 'tap';
import { type Alarm, assertNoNewAlarm, newAlarms } from '../support/corpora/alarms.ts';
import { isLong } from '../support/gateway/gateway-under-load.ts';
import { type FuzzCase, fuzzCase } from './fuzz-case.ts';
import { startH11 } from './h11-process.ts';
import { alarmsOf, judgeCases, readCases, type Tally } from './judge-cases.ts';
import { leniencies } from './leniencies.ts';
import { emptyReading } from './reading.ts';

const cases = Number(process.env.POSTERN_TEST_FUZZ_CASES ?? (isLong ? 100_000 : 8_000));
/** Set another seed for another run; what is found is kept in finds.jsonl. */
const seed = Number(process.env.POSTERN_TEST_FUZZ_SEED ?? 1);
const batch = 200;

t.setTimeout(600_000);
const h11 = startH11();
t.teardown(() => h11?.stop());
if (h11 === null) {
  const skip = 'h11 is not installed (test/upstreams/install.sh)';
  if (process.env.POSTERN_TEST_ALL === undefined) t.pass('h11 judges too', { skip });
  else t.fail(skip);
}

t.test(`${cases} messages: what Postern accepts, other parsers accept and read alike`, async (t) => {
  const seen: Tally = { cases: 0, accepted: 0, refused: 0, known: 0 };
  const alarms: Alarm[] = [];
  for (let index = 0; index < cases; index += batch) {
    const some = Array.from({ length: Math.min(batch, cases - index) }, (_, each) =>
      fuzzCase(seed, index + each),
    );
    alarms.push(...(await judgeCases(some, h11, seen)).map(({ alarm }) => alarm));
  }
  t.comment(JSON.stringify({ seed, ...seen }));
  t.ok(seen.accepted > cases / 4 && seen.refused > cases / 10, 'cases were accepted and refused');
  assertNoNewAlarm(t, alarms, []);
});

t.test('every recorded find is read alike', async (t) => {
  const rows: (FuzzCase & { readonly name: string })[] = readFileSync(
    join(import.meta.dirname, 'finds.jsonl'),
    'utf8',
  )
    .split('\n')
    .filter((line) => line !== '' && !line.startsWith('#'))
    .map((line) => JSON.parse(line));
  const readings = await readCases(rows, h11);
  for (const [index, row] of rows.entries())
    t.test(row.name, async (t) => assertNoNewAlarm(t, alarmsOf(row, readings[index]!), leniencies));
  const alarms = rows.flatMap((row, index) => alarmsOf(row, readings[index]!));
  const unseen = leniencies.filter(
    (leniency) =>
      (h11 !== null || !leniency.kind.startsWith('h11')) &&
      newAlarms(alarms, [leniency]).length === alarms.length,
  );
  t.same(unseen, [], 'each leniency is shown by a row');
});

t.test('an alarm is raised for what another parser refuses or reads otherwise', async (t) => {
  const kindsOf = async (text: string, change: (readings: ReturnType<typeof emptyReading>) => void) => {
    const fuzzed: FuzzCase = { kind: 'request', method: 'GET', text, cut: 0, ends: false };
    const [readings] = await readCases([fuzzed], null);
    change(readings!.llhttp);
    return alarmsOf(fuzzed, readings!).map(({ kind }) => kind);
  };
  const text = 'POST /x HTTP/1.1\r\nHost: a\r\nContent-Length: 3\r\n\r\nabc';
  t.same(await kindsOf(text, () => {}), [], 'no alarm if they agree');
  const rows: [string, (reading: ReturnType<typeof emptyReading>) => void][] = [
    ['llhttp waits', (reading) => reading.messages.pop()],
    ['llhttp reads another body', ({ messages }) => Object.assign(messages[0]!, { body: 'ab' })],
    ['llhttp ends the message later', ({ messages }) => Object.assign(messages[0]!, { isWhole: false })],
    ['llhttp reads another start', ({ messages }) => Object.assign(messages[0]!, { start: 'POST /y 1.1' })],
    ['llhttp reads other fields', ({ messages }) => Object.assign(messages[0]!, { fields: [] })],
    [
      'llhttp refuses',
      (reading) => Object.assign(reading, { ...emptyReading(), refusal: 'HPE_INVALID_TOKEN' }),
    ],
  ];
  for (const [kind, change] of rows) t.same(await kindsOf(text, change), [kind], kind);
  const shorter = text.slice(0, -1);
  t.same(
    await kindsOf(shorter, ({ messages }) => Object.assign(messages[0]!, { isWhole: true })),
    ['llhttp ends the message earlier'],
    'if ours waits for more',
  );
});
