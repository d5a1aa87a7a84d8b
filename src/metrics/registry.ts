import { collectDefaultMetrics, type Metric, Registry } from 'prom-client';

/** One sample of the text format. */
export interface Sample {
  /** For the parts of a histogram; default: the metric's own name. */
  readonly metricName?: string;
  readonly labels: Readonly<Record<string, string | number>>;
  readonly value: number;
}

/** A metric whose samples are made when scraped. */
export interface SampledMetric {
  /** Without `postern_`. */
  readonly name: string;
  readonly help: string;
  readonly type: 'counter' | 'gauge' | 'histogram';
  /** `name` is the whole name. */
  collect(name: string): Sample[] | Promise<Sample[]>;
}

/** How a pool of connections is used at one moment; `busy` and `free` are all of them. */
export interface PoolLoad {
  /** Connections that carry something, or are being opened for it. */
  readonly busy: number;
  readonly free: number;
  /** Requests that wait for a connection. */
  readonly waiting: number;
}

/** Plain numbers by label value, which callers increment; nothing else happens until they are scraped. */
export type Counts<Value extends string> = Record<Value, number>;

/** Every metric of the process; each name begins with `postern_`. */
export interface MetricsRegistry {
  add(metric: SampledMetric): void;
  /** A value read when metrics are scraped. */
  gauge(name: string, help: string, read: () => number): void;
  /** Values read when metrics are scraped, each after its label value. */
  gaugeBy(label: string, name: string, help: string, read: () => (readonly [string, number])[]): void;
  /** Counts by one label, all of whose values are known in advance. */
  counts<Value extends string>(
    label: string,
    name: string,
    help: string,
    values: readonly Value[],
  ): Counts<Value>;
  /** The Prometheus text format. */
  text(): Promise<string>;
  readonly contentType: string;
}

/** Creates a separate registry with the metrics of the process. */
export function createMetricsRegistry(): MetricsRegistry {
  const registry = new Registry();
  collectDefaultMetrics({ register: registry, prefix: 'postern_' });

  function add(metric: SampledMetric): void {
    const { help, type } = metric;
    const name = `postern_${metric.name}`;
    const get = async () => ({ name, help, type, values: await metric.collect(name), aggregator: 'sum' });
    registry.registerMetric({ name, help, get } as unknown as Metric);
  }

  return {
    add,
    gauge: (name, help, read) =>
      add({ name, help, type: 'gauge', collect: () => [{ labels: {}, value: read() }] }),
    gaugeBy(label, name, help, read) {
      const collect = () => read().map(([of, value]) => ({ labels: { [label]: of }, value }));
      add({ name, help, type: 'gauge', collect });
    },
    counts(label, name, help, values) {
      const counts = zeroCounts(values);
      const collect = () => values.map((value) => ({ labels: { [label]: value }, value: counts[value] }));
      add({ name, help, type: 'counter', collect });
      return counts;
    },
    text: () => registry.metrics(),
    contentType: registry.contentType,
  };
}

/** Counts that start at 0. */
export function zeroCounts<Value extends string>(values: readonly Value[]): Counts<Value> {
  return Object.fromEntries(values.map((value) => [value, 0])) as Counts<Value>;
}
