import type { Combination, MetricSnapshot, Sample } from './registry.ts';

/** The metrics of one process. */
export interface ProcessMetrics {
  /** Value of the label `worker`. */
  readonly worker: string;
  readonly metrics: readonly MetricSnapshot[];
}

interface Series {
  readonly sample: Sample;
  value: number;
  count: number;
}

/** Combines the metrics of several processes into those of one gateway; `ended`: counts of processes that have ended. */
export function combineMetrics(
  processes: readonly ProcessMetrics[],
  ended: readonly MetricSnapshot[] = [],
): MetricSnapshot[] {
  const combined = new Map<string, { metric: MetricSnapshot; series: Map<string, Series> }>();
  const seriesOf = (metric: MetricSnapshot) => {
    const known = combined.get(metric.name) ?? { metric, series: new Map<string, Series>() };
    combined.set(metric.name, known);
    return known.series;
  };
  for (const { worker, metrics } of processes)
    for (const metric of metrics) addTo(seriesOf(metric), metric, worker);
  for (const metric of ended) addTo(seriesOf(metric), metric, '');
  return [...combined.values()].map(({ metric, series }) => ({
    ...metric,
    samples: [...series.values()].map(({ sample, value, count }) => ({
      ...sample,
      value: metric.combination === 'average' ? value / count : value,
    })),
  }));
}

/** Counts of processes that have ended. */
export class EndedCounts {
  metrics: readonly MetricSnapshot[] = [];

  add(counted: readonly MetricSnapshot[]): void {
    this.metrics = combineMetrics([{ worker: '', metrics: counted }], this.metrics);
  }

  /** Drops the series of routes that are no longer configured. */
  forget(routes: readonly string[]): void {
    this.metrics = this.metrics.map((metric) => ({
      ...metric,
      samples: metric.samples.filter(({ labels }) => !routes.includes(String(labels.route))),
    }));
  }
}

function addTo(
  series: Map<string, Series>,
  { name, combination, samples }: MetricSnapshot,
  worker: string,
): void {
  for (const sample of samples) {
    const labels = combination === 'each' ? { ...sample.labels, worker } : sample.labels;
    const key = keyOf(sample.metricName ?? name, labels);
    const known = series.get(key);
    if (known === undefined) {
      series.set(key, { sample: { ...sample, labels }, value: sample.value, count: 1 });
    } else {
      known.value = combine(combination, known.value, sample.value);
      known.count += 1;
    }
  }
}

function combine(combination: Combination, one: number, other: number): number {
  if (combination === 'min') return Math.min(one, other);
  return combination === 'max' ? Math.max(one, other) : one + other;
}

function keyOf(name: string, labels: Sample['labels']): string {
  return JSON.stringify([name, Object.entries(labels).toSorted(([one], [other]) => (one < other ? -1 : 1))]);
}
