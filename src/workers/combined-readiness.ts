import type { DependencyState, Readiness } from '../http/readiness.ts';

/** State of the dependencies in `/readyz` while no worker responds. */
const unknown: Readiness['dependencies'] = { records: { ok: false }, sessions: { ok: false } };

/**
 * Combines the readiness of several workers: the gateway is ready while one of them is, and a dependency is ok if it is for every
 * worker that has responded. `null` stands for a worker that hasn't.
 */
export function combineReadiness(states: readonly (Readiness | null)[], isDraining: boolean): Readiness {
  const known = states.filter((state) => state !== null);
  const ready = known.filter(({ status }) => status === 'ready').length;
  return {
    status: isDraining ? 'draining' : ready > 0 ? 'ready' : 'not_ready',
    dependencies: known.length === 0 ? unknown : combineDependencies(known),
    workers: { ready, of: states.length },
  };
}

function combineDependencies(states: readonly Readiness[]): Readiness['dependencies'] {
  const combined: Record<string, DependencyState> = {};
  for (const { dependencies } of states)
    for (const [name, state] of Object.entries(dependencies))
      if (combined[name]?.ok !== false) combined[name] = state;
  return combined;
}
