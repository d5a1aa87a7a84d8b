import { Durations, shortBounds } from './durations.ts';
import type { Counts, MetricsRegistry, Sample } from './registry.ts';

const wholeBounds = [0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60];
const readMethods: ReadonlySet<string> = new Set(['GET', 'HEAD', 'OPTIONS']);

/** Counts of a route: plain numbers, turned into labelled series only when scraped. */
class RouteCounts {
  /** Successful requests, by status and whether the method only reads: `2 * status + read`. */
  readonly ok = new Map<number, number>();
  /** Other requests, by outcome and then by the same key. */
  readonly others = new Map<string, Map<number, number>>();
  readonly whole = new Durations(wholeBounds);
  readonly own = new Durations(shortBounds);

  count(key: number, outcome: string): void {
    const counts = outcome === 'ok' ? this.ok : this.#ofOther(outcome);
    counts.set(key, (counts.get(key) ?? 0) + 1);
  }

  #ofOther(outcome: string): Map<number, number> {
    let counts = this.others.get(outcome);
    if (counts === undefined) {
      counts = new Map();
      this.others.set(outcome, counts);
    }
    return counts;
  }
}

/** Counts every request of the public listener. The configuration and the table of refusals bound the number of series. */
export class RequestCounts {
  readonly #routes = new Map<string, RouteCounts>();
  readonly #refusals: Counts<string>;

  /** Adds the metrics of requests; `refusalCodes` are the outcomes that are refusals by Postern. */
  constructor(registry: MetricsRegistry, refusalCodes: readonly string[]) {
    const routes = this.#routes;
    registry.add({
      name: 'requests_total',
      help: 'Requests by route, method class (read, write), status and outcome (ok or what ended it otherwise).',
      type: 'counter',
      collect: () => [...routes].flatMap(([route, counts]) => requestSamples(route, counts)),
    });
    this.#refusals = registry.counts(
      'code',
      'refusals_total',
      'Requests that Postern refused, by error code.',
      refusalCodes,
    );
    registry.add({
      name: 'request_duration_seconds',
      help: 'Time from the end of a request head to the end of its answer, by route.',
      type: 'histogram',
      collect: (name) => [...routes].flatMap(([route, { whole }]) => whole.samples(name, { route })),
    });
    registry.add({
      name: 'request_own_seconds',
      help: 'Of that, the time until an upstream connection had the request; all of it where none got it.',
      type: 'histogram',
      collect: (name) => [...routes].flatMap(([route, { own }]) => own.samples(name, { route })),
    });
  }

  /**
   * Counts a finished request. `route` is the configured path; `ownMs` is Postern's own share of `durationMs`: until an upstream
   * connection took the request or, if none did, all of it.
   */
  done(
    route: string,
    method: string,
    status: number,
    outcome: string,
    durationMs: number,
    ownMs: number,
  ): void {
    const counts = this.#count(route, 2 * status + (readMethods.has(method) ? 1 : 0), outcome);
    counts.whole.record(durationMs);
    counts.own.record(ownMs);
  }

  /** Counts a request that was refused before it could be read. */
  unreadable(status: number, outcome: string): void {
    this.#count('', 2 * status, outcome);
  }

  /** Drops the series of routes that are no longer configured; totals over all routes stay. */
  forget(routes: readonly string[]): void {
    for (const route of routes) this.#routes.delete(route);
  }

  #count(route: string, key: number, outcome: string): RouteCounts {
    let counts = this.#routes.get(route);
    if (counts === undefined) {
      counts = new RouteCounts();
      this.#routes.set(route, counts);
    }
    counts.count(key, outcome);
    const refused = this.#refusals[outcome];
    if (refused !== undefined) this.#refusals[outcome] = refused + 1;
    return counts;
  }
}

function requestSamples(route: string, { ok, others }: RouteCounts): Sample[] {
  return [['ok', ok] as const, ...others].flatMap(([outcome, counts]) =>
    [...counts].map(([key, value]) => ({
      labels: { route, method: key % 2 === 1 ? 'read' : 'write', status: Math.floor(key / 2), outcome },
      value,
    })),
  );
}
