import { Counter, Gauge, Histogram, Registry } from 'prom-client';
import t from 'tap';
import { Durations } from '../../src/metrics/durations.ts';
import { MetricsRegistry } from '../../src/metrics/registry.ts';

/** The lines about metrics whose names begin so. */
function linesOf(text: string, name: string): string[] {
  return text.split('\n').filter((line) => line.replace(/^# \w+ /, '').startsWith(name));
}

const help = 'What "it" is,\nin two \\ lines.';
const label = 'a "b" \\ c\nd';

// What we register only looks like a metric of prom-client's: an upgrade that wants more of it must not pass unseen.
t.test('our metrics are written as those of prom-client are', async (t) => {
  const ours = new MetricsRegistry();
  ours.gauge('depth', help, () => 1.5);
  const counts = ours.counts('kind', 'things_total', help, ['one', label]);
  counts.one += 2;
  const durations = new Durations([0.1, 1]);
  ours.add({
    name: 'time_seconds',
    help,
    type: 'histogram',
    collect: (name) => durations.samples(name, { route: label }),
  });

  const registers = [new Registry()];
  const gauge = new Gauge({ name: 'postern_depth', help, registers });
  gauge.set(1.5);
  const counter = new Counter({ name: 'postern_things_total', help, labelNames: ['kind'], registers });
  counter.inc({ kind: 'one' }, 2);
  counter.inc({ kind: label }, 0);
  const histogram = new Histogram({
    name: 'postern_time_seconds',
    help,
    labelNames: ['route'],
    buckets: [0.1, 1],
    registers,
  });
  for (const milliseconds of [50, 100, 250, 4_000]) {
    durations.record(milliseconds);
    histogram.observe({ route: label }, milliseconds / 1_000);
  }

  const [text, expected] = [await ours.text(), await registers[0]!.metrics()];
  for (const name of ['postern_depth', 'postern_things_total', 'postern_time_seconds']) {
    const lines = linesOf(expected, name);
    t.ok(lines.length > 2, name);
    t.strictSame(linesOf(text, name).map(withSortedLabels), lines.map(withSortedLabels));
  }
  t.equal(ours.contentType, registers[0]!.contentType);
});

t.test('the metrics of the process have the prefix of all others', async (t) => {
  const names = (await new MetricsRegistry().text()).match(/^# TYPE \S+/gm) ?? [];
  t.ok(names.length > 10);
  for (const name of names) t.match(name, /^# TYPE postern_/);
});

t.test('a name is registered once', async (t) => {
  const registry = new MetricsRegistry();
  registry.gauge('depth', help, () => 0);
  t.throws(() => registry.gauge('depth', help, () => 0), /already been registered/);
});

/** Their order means nothing. */
function withSortedLabels(line: string): string {
  return line.replace(
    /\{(.*)\}/,
    (_, labels: string) => `{${(labels.match(/\w+="(?:[^"\\]|\\.)*"/g) ?? []).sort().join(',')}}`,
  );
}
