import { collectDefaultMetrics, Histogram, type Metric, Registry } from 'prom-client';

/** What the gateway counts; every name begins with `postern_`, every label is bounded. */
export interface Metrics {
  /** One request is over. `route` is the configured path; durations in milliseconds. */
  requestDone(route: string, method: string, status: number, outcome: string, durationMs: number): void;
  /** A value read when metrics are scraped. */
  gauge(name: string, help: string, read: () => number): void;
  /** Values read when metrics are scraped, each with the label's value before it. */
  gaugeBy(label: string, name: string, help: string, read: () => (readonly [string, number])[]): void;
  /** Counts by one label, whose values are all named beforehand: nothing else can make a series. */
  counterBy<Value extends string>(
    label: string,
    name: string,
    help: string,
    values: readonly Value[],
  ): (value: Value) => void;
  /** Distribution of what the function given back is told; `buckets` are upper bounds. */
  histogram(name: string, help: string, buckets: readonly number[]): (value: number) => void;
  /** The Prometheus text format. */
  text(): Promise<string>;
  readonly contentType: string;
}

const bucketSeconds = [0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60];
const readMethods: ReadonlySet<string> = new Set(['GET', 'HEAD', 'OPTIONS']);

/** What is counted of one route: plain numbers, turned into labelled series only when somebody asks. */
class RouteCounts {
  /** Requests that went well, by status and whether they read: `2 * status + read`. */
  readonly ok = new Map<number, number>();
  /** All others, by the same number and the outcome. */
  readonly others = new Map<string, number>();
  readonly buckets = new Float64Array(bucketSeconds.length + 1);
  seconds = 0;
}

/** Creates an empty set of metrics of its own, process metrics included. */
export function createMetrics(): Metrics {
  const registry = new Registry();
  collectDefaultMetrics({ register: registry, prefix: 'postern_' });
  const routes = new Map<string, RouteCounts>();
  register(registry, {
    name: 'postern_requests_total',
    help: 'Requests by route, method class (read, write), status and outcome (ok or the code of the refusal).',
    type: 'counter',
    collect: () => [...routes].flatMap(([route, counts]) => requestSeries(route, counts)),
  });
  register(registry, {
    name: 'postern_request_duration_seconds',
    help: 'Time from the end of a request head to the end of its answer, by route.',
    type: 'histogram',
    collect: () => [...routes].flatMap(([route, counts]) => durationSeries(route, counts)),
  });

  return {
    requestDone(route, method, status, outcome, durationMs) {
      let counts = routes.get(route);
      if (counts === undefined) {
        counts = new RouteCounts();
        routes.set(route, counts);
      }
      const key = 2 * status + (readMethods.has(method) ? 1 : 0);
      if (outcome === 'ok') counts.ok.set(key, (counts.ok.get(key) ?? 0) + 1);
      else counts.others.set(`${key} ${outcome}`, (counts.others.get(`${key} ${outcome}`) ?? 0) + 1);
      const seconds = durationMs / 1000;
      let bucket = 0;
      while (bucket < bucketSeconds.length && seconds > bucketSeconds[bucket]!) bucket++;
      counts.buckets[bucket]!++;
      counts.seconds += seconds;
    },
    gauge(name, help, read) {
      const collect = () => [{ labels: {}, value: read() }];
      register(registry, { name: `postern_${name}`, help, type: 'gauge', collect });
    },
    gaugeBy(label, name, help, read) {
      const collect = () => read().map(([of, value]) => ({ labels: { [label]: of }, value }));
      register(registry, { name: `postern_${name}`, help, type: 'gauge', collect });
    },
    counterBy(label, name, help, values) {
      const counts = new Map(values.map((value) => [value, 0]));
      register(registry, {
        name: `postern_${name}`,
        help,
        type: 'counter',
        collect: () => [...counts].map(([of, value]) => ({ labels: { [label]: of }, value })),
      });
      return (value) => void counts.set(value, (counts.get(value) ?? 0) + 1);
    },
    histogram(name, help, buckets) {
      const made = new Histogram({
        name: `postern_${name}`,
        help,
        buckets: [...buckets],
        registers: [registry],
      });
      return (value) => made.observe(value);
    },
    text: () => registry.metrics(),
    contentType: registry.contentType,
  };
}

/** One sample of the text format. */
interface Sample {
  readonly metricName?: string;
  readonly labels: Readonly<Record<string, string | number>>;
  readonly value: number;
}

/** Adds a metric whose samples are made when they are asked for. */
function register(
  registry: Registry,
  metric: { name: string; help: string; type: string; collect: () => Sample[] },
): void {
  const { name, help, type, collect } = metric;
  const made = { name, help, get: async () => ({ name, help, type, values: collect(), aggregator: 'sum' }) };
  registry.registerMetric(made as unknown as Metric);
}

function requestSeries(route: string, counts: RouteCounts): Sample[] {
  const sample = (key: number, outcome: string, value: number): Sample => ({
    labels: { route, method: key % 2 === 1 ? 'read' : 'write', status: Math.floor(key / 2), outcome },
    value,
  });
  return [
    ...[...counts.ok].map(([key, value]) => sample(key, 'ok', value)),
    ...[...counts.others].map(([text, value]) => {
      const [key, outcome] = text.split(' ') as [string, string];
      return sample(Number(key), outcome, value);
    }),
  ];
}

function durationSeries(route: string, counts: RouteCounts): Sample[] {
  const name = 'postern_request_duration_seconds';
  let below = 0;
  const buckets = [...counts.buckets].map((count, index): Sample => {
    below += count;
    return {
      metricName: `${name}_bucket`,
      labels: { route, le: bucketSeconds[index] ?? '+Inf' },
      value: below,
    };
  });
  return [
    ...buckets,
    { metricName: `${name}_sum`, labels: { route }, value: counts.seconds },
    { metricName: `${name}_count`, labels: { route }, value: below },
  ];
}
