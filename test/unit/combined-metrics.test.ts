import t from 'tap';
import { combineMetrics, EndedCounts } from '../../src/metrics/combined-metrics.ts';
import { Durations } from '../../src/metrics/durations.ts';
import { MetricsRegistry, textOf } from '../../src/metrics/registry.ts';
import { parsePrometheusText } from '../support/gateway/prometheus-text.ts';

/** A registry as a worker has it, with these values. */
function registryOf({ sum, min, max, average, counted }: Record<string, number>): MetricsRegistry {
  const registry = new MetricsRegistry();
  registry.gauge('sum', 'Sum.', () => sum!);
  registry.gauge('min', 'Min.', () => min!, 'min');
  registry.gauge('max', 'Max.', () => max!, 'max');
  registry.gaugeBy('store', 'average', 'Average.', () => [['records', average!]], 'average');
  registry.counts('kind', 'things_total', 'Things.', ['one', 'two']).one += counted!;
  const durations = new Durations([0.1, 1]);
  durations.record(counted!);
  registry.add({
    name: 'time_seconds',
    help: 'Time.',
    type: 'histogram',
    collect: (name) => durations.samples(name, { route: '/api' }),
  });
  return registry;
}

/** The samples of ours, by their names and labels. */
async function samplesOf(metrics: Parameters<typeof textOf>[0]): Promise<Record<string, number>> {
  const families = parsePrometheusText(await textOf(metrics));
  const samples = [...families.values()].flatMap((family) => family.samples);
  const ours = samples.filter(({ name }) =>
    /_(sum|min|max|average|things_total|time_seconds_\w+)$/.test(name),
  );
  return Object.fromEntries(
    ours
      .filter(({ name }) => !/nodejs|process/.test(name))
      .map(({ name, labels, value }) => [[name, ...Object.values(labels)].join(' '), value]),
  );
}

t.test('sums, and one value of what all say', async (t) => {
  const one = registryOf({ sum: 1, min: 0, max: 4, average: 2, counted: 5 });
  const two = registryOf({ sum: 2, min: 1, max: 3, average: 5, counted: 500 });
  const combined = combineMetrics([
    { worker: '1', metrics: structuredClone(await one.snapshot()) },
    { worker: '2', metrics: structuredClone(await two.snapshot()) },
  ]);
  t.match(await samplesOf(combined), {
    postern_sum: 3,
    postern_min: 0,
    postern_max: 4,
    'postern_average records': 3.5,
    'postern_things_total one': 505,
    'postern_things_total two': 0,
    'postern_time_seconds_bucket /api 0.1': 1,
    'postern_time_seconds_bucket /api 1': 2,
    'postern_time_seconds_bucket /api +Inf': 2,
    'postern_time_seconds_sum /api': 0.505,
    'postern_time_seconds_count /api': 2,
  });
});

t.test('metrics of a process carry its name', async (t) => {
  const registry = registryOf({ sum: 1, min: 1, max: 1, average: 1, counted: 1 });
  const text = await textOf(
    combineMetrics([
      { worker: '1', metrics: await registry.snapshot() },
      { worker: '2', metrics: await registry.snapshot() },
    ]),
  );
  const families = parsePrometheusText(text);
  for (const [name, { samples }] of families) {
    if (!/^postern_(process|nodejs)_/.test(name)) continue;
    t.ok(
      samples.every(({ labels }) => labels.worker === '1' || labels.worker === '2'),
      name,
    );
  }
  t.ok(
    families.has('postern_process_cpu_seconds_total') && families.has('postern_nodejs_eventloop_lag_seconds'),
  );
});

t.test('counts of ended processes stay in the sums, except for removed routes', async (t) => {
  const ended = new EndedCounts();
  for (const counted of [5, 500])
    ended.add(await registryOf({ sum: 9, min: 9, max: 9, average: 9, counted }).counted());
  const living = await registryOf({ sum: 1, min: 1, max: 1, average: 1, counted: 1 }).snapshot();
  const all = await samplesOf(combineMetrics([{ worker: '1', metrics: living }], ended.metrics));
  t.match(all, {
    postern_sum: 1,
    'postern_things_total one': 506,
    'postern_time_seconds_count /api': 3,
  });
  ended.forget(['/api']);
  const kept = await samplesOf(combineMetrics([{ worker: '1', metrics: living }], ended.metrics));
  t.match(kept, { 'postern_things_total one': 506, 'postern_time_seconds_count /api': 1 });
});
