import { Durations } from './durations.ts';
import type { MetricsRegistry } from './registry.ts';

/** Counts decisions for other proxies. The configuration and the table of refusals bound its labels. */
export interface DecisionCounts {
  /** Counts a decision. `mode` is the listener's, `route` the configured path. */
  done(mode: string, route: string, outcome: string, durationMs: number): void;
  unreadable(mode: string, outcome: string): void;
  /** Drops the series of routes that are no longer configured. */
  forget(routes: readonly string[]): void;
}

/** Bounds from microseconds to milliseconds, because nothing is forwarded. */
const bounds = [0.00005, 0.0001, 0.00025, 0.0005, 0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.5, 2.5];

/** Counts of a mode, by route and then by outcome. */
interface ModeCounts {
  readonly routes: Map<string, Map<string, number>>;
  readonly durations: Durations;
}

/** Adds the metrics of decisions; without a listener for them there are no series. */
export function createDecisionCounts(registry: MetricsRegistry): DecisionCounts {
  const modes = new Map<string, ModeCounts>();

  function countsOf(mode: string): ModeCounts {
    let counts = modes.get(mode);
    if (counts === undefined) {
      counts = { routes: new Map(), durations: new Durations(bounds) };
      modes.set(mode, counts);
    }
    return counts;
  }

  function count(mode: string, route: string, outcome: string): ModeCounts {
    const counts = countsOf(mode);
    let outcomes = counts.routes.get(route);
    if (outcomes === undefined) {
      outcomes = new Map();
      counts.routes.set(route, outcomes);
    }
    outcomes.set(outcome, (outcomes.get(outcome) ?? 0) + 1);
    return counts;
  }

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

  return {
    done: (mode, route, outcome, durationMs) => count(mode, route, outcome).durations.record(durationMs),
    unreadable: (mode, outcome) => void count(mode, '', outcome),
    forget(gone) {
      for (const { routes } of modes.values()) for (const route of gone) routes.delete(route);
    },
  };
}
