import { Counter, collectDefaultMetrics, Gauge, Histogram, Registry } from 'prom-client';

/** What the gateway counts; every name begins with `postern_`, every label is bounded. */
export interface Metrics {
  /** One request is over. `route` is the configured path; durations in milliseconds. */
  requestDone(route: string, method: string, status: number, outcome: string, durationMs: number): void;
  /** A value read when metrics are scraped. */
  gauge(name: string, help: string, read: () => number): void;
  /** The Prometheus text format. */
  text(): Promise<string>;
  readonly contentType: string;
}

const seconds = [0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60];
const readMethods: ReadonlySet<string> = new Set(['GET', 'HEAD', 'OPTIONS']);

/** Creates an empty set of metrics of its own, process metrics included. */
export function createMetrics(): Metrics {
  const registry = new Registry();
  collectDefaultMetrics({ register: registry, prefix: 'postern_' });
  // Counted in a plain map and handed over at a scrape: label look-ups have no place on the request path.
  const requests = new Map<string, number>();
  new Counter({
    name: 'postern_requests_total',
    help: 'Requests by route, method class (read, write), status and outcome (ok or the code of the refusal).',
    labelNames: ['route', 'method', 'status', 'outcome'],
    registers: [registry],
    collect() {
      this.reset();
      for (const [key, count] of requests) {
        const [route, method, status, outcome] = key.split('\n') as [string, string, string, string];
        this.inc({ route, method, status, outcome }, count);
      }
    },
  });
  const durations = new Histogram({
    name: 'postern_request_duration_seconds',
    help: 'Time from the end of a request head to the end of its answer.',
    labelNames: ['route'],
    buckets: seconds,
    registers: [registry],
  });
  const byRoute = new Map<string, Histogram.Internal<'route'>>();

  function durationsOf(route: string): Histogram.Internal<'route'> {
    let child = byRoute.get(route);
    if (child === undefined) {
      child = durations.labels(route);
      byRoute.set(route, child);
    }
    return child;
  }

  return {
    requestDone(route, method, status, outcome, durationMs) {
      const key = `${route}\n${readMethods.has(method) ? 'read' : 'write'}\n${status}\n${outcome}`;
      requests.set(key, (requests.get(key) ?? 0) + 1);
      durationsOf(route).observe(durationMs / 1000);
    },
    gauge(name, help, read) {
      new Gauge({
        name: `postern_${name}`,
        help,
        registers: [registry],
        collect() {
          this.set(read());
        },
      });
    },
    text: () => registry.metrics(),
    contentType: registry.contentType,
  };
}
