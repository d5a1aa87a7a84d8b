import { readFileSync } from 'node:fs';
import t from 'tap';
import { bounds, judge } from '../../bench/bounds.ts';
import { imageSettings, parseDockerfile } from '../../bench/upkeep/image.ts';
import type { Upkeep, UpkeepRow } from '../../bench/upkeep/measure.ts';
import { rateBetween, readActivity, readMemory } from '../../bench/upkeep/reading.ts';
import { wholeUpkeep } from '../../bench/upkeep/settings.ts';
import { posternRows, subjects } from '../../bench/upkeep/subjects.ts';
import { headings, markers, renderUpkeep, replaceUpkeep } from '../../bench/upkeep/table.ts';
import { renderVerdicts } from '../../bench/verdicts.ts';
import { nothingMeasured } from '../support/nothing-measured.ts';

function row(name: string, privateMiB: number): UpkeepRow {
  const memory = { privateMiB, proportionalMiB: privateMiB + 10 };
  return {
    ...{ name, startCpuMs: 250, startMs: 300, afterStart: memory, afterIdle: memory, afterLoad: memory },
    idle: { cpuMsPerSecond: 1.5, wakeUpsPerSecond: 8 },
  };
}

const upkeep: Upkeep = {
  date: new Date('2026-11-27T16:00:00Z'),
  settings: wholeUpkeep,
  rows: [row('postern', 28), row('postern-two-workers', 90)],
  sideBySide: { instances: 100, proportionalMiB: 3_000, privateMiB: 2_500, cpus: 0.6 },
  missing: ['envoy-api-key'],
  failed: [],
};

t.test('what the Dockerfile says of Node is what the bench starts', async (t) => {
  const text = `FROM a AS build
ENV NODE_OPTIONS=--of-another-stage
FROM b
ENV NODE_ENV=production \\
    NODE_OPTIONS="--a=16 --b" \\
    POSTERN_CONFIG=/etc/postern/postern.yaml
ENTRYPOINT ["node", "--c", "/app/dist/main.js"]
`;
  t.same(parseDockerfile(text, '/here/'), {
    args: ['--c', '/here/dist/main.js'],
    env: { NODE_ENV: 'production', NODE_OPTIONS: '--a=16 --b' },
  });
  t.throws(() => parseDockerfile('FROM b\nENTRYPOINT ["sh"]\n', '/here/'), /not node/);
  t.match(imageSettings().args.at(-1), /\/dist\/main\.js$/);
});

t.test(
  'the bounds of upkeep are judged in their own units, and beyond the row they are compared with',
  async (t) => {
    const verdicts = judge({ ...nothingMeasured, upkeep });
    const lines = renderVerdicts(verdicts).split('\n');
    for (const line of [
      'postern, private MiB started at most 34.00: 28.00, held',
      'postern, private MiB idle at most 28.00: 28.00, held',
      'postern, private MiB after load at most 40.00: 28.00, held',
      'postern, start CPU s at most 0.25: 0.25, held',
      'postern-sources, start CPU s at most 0.60: not measured, NOT HELD',
      'postern, idle CPU ms/s at most 2.00: 1.50, held',
      'postern, wake-ups/s at most 10.00: 8.00, held',
      'postern-two-workers, private MiB started at most 60.00 more than postern: 62.00, NOT HELD',
      'postern-redis-postgres, private MiB idle at most 10.00 more than postern: not measured, NOT HELD',
      'postern-pages-console, private MiB idle at most 8.00 more than postern: not measured, NOT HELD',
      'instances side by side, MiB in all at most 4096.00: 3000.00, held',
      'instances side by side, CPUs in all at most 0.50: 0.60, NOT HELD',
    ])
      t.ok(lines.includes(`- ${line}`), line);
    const names = subjects.map(({ peer }) => peer.name);
    for (const name of Object.values(posternRows)) t.ok(names.includes(name), name);
    t.equal(verdicts.length, bounds.filter(({ of }) => verdicts.some((each) => each.of === of)).length);
  },
);

t.test('a process is read by what the kernel says of it', async (t) => {
  const before = readActivity([process.pid]);
  const memory = readMemory([process.pid]);
  t.ok(memory.privateMiB > 1 && memory.proportionalMiB >= memory.privateMiB);
  const { cpuMsPerSecond, wakeUpsPerSecond } = rateBetween(before, readActivity([process.pid]));
  t.ok(cpuMsPerSecond >= 0 && wakeUpsPerSecond >= 0);
  const at = { atMs: 0, cpuMs: 10, wakeUps: 5 };
  t.same(rateBetween(at, { atMs: 2_000, cpuMs: 14, wakeUps: 25 }), {
    cpuMsPerSecond: 2,
    wakeUpsPerSecond: 10,
  });
});

t.test('the table goes between the markers of a document', async (t) => {
  const text = `before\n${markers.begin}\nan old one\n${markers.end}\nafter\n`;
  const written = replaceUpkeep(text, renderUpkeep(upkeep));
  t.match(written, /^before\n<!-- upkeep: written/);
  t.match(written, /\nafter\n$/);
  t.notMatch(written, 'an old one');
  t.match(written, /^Measured on 2026-11-27\.$/m);
  t.match(written, /^\| postern +\| +250 \| +300 \| +28\.0 \| +38\.0 \|.* 1\.50 \| +8\.0 \|$/m);
  t.match(written, /^\| envoy-api-key +\| +not installed \|/m);
  t.match(written, /^100 instances .* 3000 MiB in all$/m);
  t.equal(replaceUpkeep(written, renderUpkeep(upkeep)), written);
  t.throws(() => replaceUpkeep('no markers', ''), /no markers/);
});

for (const file of ['docs/limits.md', 'bench/RESULTS.md'])
  t.test(`${file} has the table that the bench writes`, async (t) => {
    const text = readFileSync(file, 'utf8');
    t.equal(text.split(markers.begin).length, 2);
    t.equal(text.split(markers.end).length, 2);
    const written = text.slice(text.indexOf(markers.begin), text.indexOf(markers.end));
    const [first = '', , ...rows] = written.split('\n').filter((line) => line.startsWith('|'));
    const cells = (line: string) =>
      line
        .slice(1, -1)
        .split('|')
        .map((cell) => cell.trim());
    t.same(cells(first), headings);
    const names = subjects.map(({ peer }) => peer.name);
    t.ok(rows.length > 0);
    for (const [name, ...figures] of rows.map(cells)) {
      t.ok(names.includes(name!), name!);
      for (const figure of figures)
        t.match(figure, /^(?:\d+(?:\.\d+)?|—|not installed)$/, `${name}: ${figure}`);
    }
    t.match(written, /instances side by side/i);
  });
