import { Durations, shortBounds } from './durations.ts';
import type { MetricsRegistry } from './registry.ts';

/** Counts of one mode of listeners, by route and then by outcome, and its durations. */
interface ModeCounts {
  readonly routes: Map<string, Map<string, number>>;
  readonly durations: Durations;
}

/** Counts decisions for other proxies. The configuration and the table of refusals bound the number of series. */
export class DecisionCounts {
  readonly #modes = new Map<string, ModeCounts>();

  /** Adds the metrics of decisions; without a listener for them there are no series. */
  constructor(registry: MetricsRegistry) {
    const modes = this.#modes;
    registry.add({
      name: 'decisions_total',
      help: 'Requests that other proxies asked about, by mode of the listener, route and outcome (ok, or the code of the refusal).',
      type: 'counter',
      collect: () =>
        [...modes].flatMap(([mode, { routes }]) =>
          [...routes].flatMap(([route, outcomes]) =>
            [...outcomes].map(([outcome, value]) => ({ labels: { mode, route, outcome }, value })),
          ),
        ),
    });
    registry.add({
      name: 'decision_duration_seconds',
      help: 'Time from the end of such a question to the end of its answer, by mode of the listener.',
      type: 'histogram',
      collect: (name) => [...modes].flatMap(([mode, { durations }]) => durations.samples(name, { mode })),
    });
  }

  /** Counts a decision. `mode` is the listener's, `route` the configured path. */
  done(mode: string, route: string, outcome: string, durationMs: number): void {
    this.#count(mode, route, outcome).durations.record(durationMs);
  }

  unreadable(mode: string, outcome: string): void {
    this.#count(mode, '', outcome);
  }

  /** Drops the series of routes that are no longer configured. */
  forget(gone: readonly string[]): void {
    for (const { routes } of this.#modes.values()) for (const route of gone) routes.delete(route);
  }

  #count(mode: string, route: string, outcome: string): ModeCounts {
    let counts = this.#modes.get(mode);
    if (counts === undefined) {
      counts = { routes: new Map(), durations: new Durations(shortBounds) };
      this.#modes.set(mode, counts);
    }
    let outcomes = counts.routes.get(route);
    if (outcomes === undefined) {
      outcomes = new Map();
      counts.routes.set(route, outcomes);
    }
    outcomes.set(outcome, (outcomes.get(outcome) ?? 0) + 1);
    return counts;
  }
}
