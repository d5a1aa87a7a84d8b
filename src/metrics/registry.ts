import type { Metric, Registry } from 'prom-client';

/** A sample in the Prometheus text format. */
export interface Sample {
  /** Name of a part of a histogram; default: the metric's own name. */
  readonly metricName?: string;
  readonly labels: Readonly<Record<string, string | number>>;
  readonly value: number;
}

/**
 * The way in which the values of several processes combine into one: their sum, minimum, maximum or average. `each` keeps them
 * apart, by a label `worker`.
 */
export type Combination = 'sum' | 'min' | 'max' | 'average' | 'each';

/** A metric with its samples of one moment; can be sent to another process. */
export interface MetricSnapshot {
  /** Complete name. */
  readonly name: string;
  readonly help: string;
  readonly type: 'counter' | 'gauge' | 'histogram';
  readonly combination: Combination;
  readonly samples: readonly Sample[];
}

/** A metric whose samples are made when scraped. */
interface SampledMetric {
  /** Name without `postern_`. */
  readonly name: string;
  readonly help: string;
  readonly type: 'counter' | 'gauge' | 'histogram';
  /** Default: `sum`, which is required unless the metric is a gauge. */
  readonly combination?: Combination;
  /** Makes the samples; `name` is the complete name. */
  collect(name: string): Sample[] | Promise<Sample[]>;
}

/** Load of a pool of connections at one moment; each connection is either `busy` or `free`. */
export interface PoolLoad {
  /** Connections in use, or being opened for use. */
  readonly busy: number;
  readonly free: number;
  readonly waiting: number;
}

/** Plain numbers by label value, which callers increment; nothing else happens until they are scraped. */
export type Counts<Value extends string> = Record<Value, number>;

/** Every metric of the process; each name begins with `postern_`. */
export class MetricsRegistry {
  readonly contentType = 'text/plain; version=0.0.4; charset=utf-8';
  readonly #added = new Map<string, SampledMetric>();
  /** Made for the first scrape. */
  #scraped: Promise<Registry> | undefined;

  add(metric: SampledMetric): void {
    const name = `postern_${metric.name}`;
    if (this.#added.has(name)) throw new Error(`${name} has already been registered`);
    this.#added.set(name, metric);
  }

  /** Adds a value read when metrics are scraped. */
  gauge(name: string, help: string, read: () => number, combination: Combination = 'sum'): void {
    this.add({ name, help, type: 'gauge', combination, collect: () => [{ labels: {}, value: read() }] });
  }

  /** Adds one value for each value of the label, read when metrics are scraped. */
  gaugeBy(
    label: string,
    name: string,
    help: string,
    read: () => (readonly [string, number])[],
    combination: Combination = 'sum',
  ): void {
    const collect = () => read().map(([of, value]) => ({ labels: { [label]: of }, value }));
    this.add({ name, help, type: 'gauge', combination, collect });
  }

  /** Adds counts by one label, all of whose values are known in advance. */
  counts<Value extends string>(
    label: string,
    name: string,
    help: string,
    values: readonly Value[],
  ): Counts<Value> {
    const counts = zeroCounts(values);
    const collect = () => values.map((value) => ({ labels: { [label]: value }, value: counts[value] }));
    this.add({ name, help, type: 'counter', collect });
    return counts;
  }

  /** Returns every metric with its present samples. */
  async snapshot(): Promise<MetricSnapshot[]> {
    const registry = await this.#registry();
    const all = (await registry.getMetricsAsJSON()) as unknown as PromClientMetric[];
    return all.map(({ name, help, type, values }) => {
      const known = this.#added.get(name);
      // The others are prom-client's metrics of the process.
      const combination = known === undefined ? 'each' : (known.combination ?? 'sum');
      return { name, help, type, combination, samples: values };
    });
  }

  /** The growing metrics: counters and histograms, without those of Node's process. */
  counted(): Promise<MetricSnapshot[]> {
    const growing = [...this.#added].filter(([, { type }]) => type !== 'gauge');
    return Promise.all(
      growing.map(async ([name, metric]) => {
        const { help, type, combination = 'sum' } = metric;
        return { name, help, type, combination, samples: await metric.collect(name) };
      }),
    );
  }

  /** The Prometheus text format. */
  async text(): Promise<string> {
    return (await this.#registry()).metrics();
  }

  #registry(): Promise<Registry> {
    this.#scraped ??= createRegistry(true);
    return this.#scraped.then((registry) => {
      for (const [name, { help, type, collect }] of this.#added)
        if (registry.getSingleMetric(name) === undefined)
          register(registry, { name, help, type }, () => collect(name));
      return registry;
    });
  }
}

/** Loads prom-client, which a gateway that is never scraped does without, and makes a registry of its. */
async function createRegistry(ofProcess: boolean): Promise<Registry> {
  const { Registry } = await import('prom-client');
  const registry = new Registry();
  if (ofProcess) (await import('./process-metrics.ts')).addProcessMetrics(registry);
  return registry;
}

/** A metric in prom-client's form. */
interface PromClientMetric extends Pick<MetricSnapshot, 'name' | 'help' | 'type'> {
  readonly values: readonly Sample[];
}

function register(
  registry: Registry,
  { name, help, type }: Pick<MetricSnapshot, 'name' | 'help' | 'type'>,
  collect: () => readonly Sample[] | Promise<readonly Sample[]>,
): void {
  const get = async () => ({ name, help, type, values: await collect(), aggregator: 'sum' });
  registry.registerMetric({ name, help, get } as unknown as Metric);
}

/** The Prometheus text format of a snapshot. */
export async function textOf(metrics: readonly MetricSnapshot[]): Promise<string> {
  const registry = await createRegistry(false);
  for (const metric of metrics) register(registry, metric, () => metric.samples);
  return registry.metrics();
}

/** Counts that start at 0. */
export function zeroCounts<Value extends string>(values: readonly Value[]): Counts<Value> {
  return Object.fromEntries(values.map((value) => [value, 0])) as Counts<Value>;
}
