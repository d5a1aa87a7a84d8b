import { parseArgs } from 'node:util';
import { type FuzzCase, fuzzCase } from './fuzz-case.ts';
import { startH11 } from './h11-process.ts';
import { alarmsOf, judgeCases, readCases, type Tally } from './judge-cases.ts';
import { escaped } from './reading.ts';

// npm run fuzz -- --minutes N [--seed S]: new cases for so long; --seed S --case I: one of them, with what each parser
// makes of it.
const { values } = parseArgs({
  options: { minutes: { type: 'string' }, seed: { type: 'string' }, case: { type: 'string' } },
});
const seed = Number(values.seed ?? Math.floor(Math.random() * 2 ** 31));
const batch = 200;
const shownOfKind = 3;

function print(line: string): void {
  process.stdout.write(`${line}\n`);
}

const h11 = startH11();
if (h11 === null) print('h11 is not installed (test/upstreams/install.sh): llhttp alone judges');
if (values.case !== undefined) await replay(fuzzCase(seed, Number(values.case)));
else await search(Number(values.minutes ?? 1));
await h11?.stop();

async function replay(fuzzed: FuzzCase): Promise<void> {
  const [readings] = await readCases([fuzzed], h11);
  print(escaped(fuzzed));
  for (const [name, reading] of Object.entries(readings!)) print(`${name}: ${escaped(reading)}`);
  for (const { kind, detail } of alarmsOf(fuzzed, readings!)) print(`${kind}: ${detail}`);
}

async function search(minutes: number): Promise<void> {
  print(`seed ${seed}, ${minutes} minutes`);
  const end = performance.now() + minutes * 60_000;
  const seen: Tally = { cases: 0, accepted: 0, refused: 0, known: 0 };
  const kinds = new Map<string, number>();
  for (let index = 0; performance.now() < end; index += batch) {
    const cases = Array.from({ length: batch }, (_, each) => fuzzCase(seed, index + each));
    for (const { fuzzed, alarm } of await judgeCases(cases, h11, seen)) {
      const count = (kinds.get(alarm.kind) ?? 0) + 1;
      kinds.set(alarm.kind, count);
      if (count > shownOfKind) continue;
      print(`\n${alarm.kind} (--seed ${seed} --case ${index + cases.indexOf(fuzzed)})\n${alarm.detail}`);
      print(`as a row of finds.jsonl: ${escaped({ name: alarm.kind, ...fuzzed })}`);
    }
  }
  print(`\n${JSON.stringify(seen)}; alarms: ${JSON.stringify(Object.fromEntries(kinds))}`);
  if (kinds.size > 0) process.exitCode = 1;
}
