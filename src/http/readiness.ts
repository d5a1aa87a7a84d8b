/** A dependency that `/readyz` reports. */
export interface Dependency {
  readonly name: string;
  /** Time for which the gateway stays ready without the dependency, ms; Infinity if part of the service works without it. */
  readonly toleranceMs: () => number;
  readonly ping: () => Promise<void>;
  /** Start of the dependency's outage, by `performance.now()`; null or absent if only a ping can tell. */
  readonly unavailableSince?: () => number | null;
  /** Reason for the outage if it is known, free of credentials. */
  readonly reason?: () => string | undefined;
}

/** State of a dependency. */
export interface DependencyState {
  readonly ok: boolean;
  /** Left out of the JSON if undefined. */
  readonly reason?: string | undefined;
}

/** The content of `/readyz`. */
export interface Readiness {
  readonly status: 'ready' | 'not_ready' | 'draining';
  readonly dependencies: Readonly<Record<string, DependencyState>>;
  /** Numbers of worker processes: `ready` ones, and all (`of`); absent if there is only one process. */
  readonly workers?: { readonly ready: number; readonly of: number };
}

/** Reads the current readiness. */
export type ReadReadiness = () => Promise<Readiness>;

/** Creates the function that reads the readiness, which pings every dependency on each call. */
export function createReadiness(
  dependencies: readonly Dependency[],
  isDraining: () => boolean,
): ReadReadiness {
  const checks = dependencies.map(createCheck);
  return async () => {
    const checked = await Promise.all(checks.map((check) => check()));
    const isReady = checked.every(({ isTolerable }) => isTolerable);
    return {
      status: isDraining() ? 'draining' : isReady ? 'ready' : 'not_ready',
      dependencies: Object.fromEntries(checked.map(({ name, state }) => [name, state])),
    };
  };
}

function createCheck({ name, toleranceMs, ping, unavailableSince, reason }: Dependency) {
  let failingSince: number | null = null;

  return async () => {
    const at = performance.now();
    try {
      await ping();
      failingSince = null;
      return { name, state: { ok: true }, isTolerable: true };
    } catch {
      failingSince ??= at;
      const since = Math.min(failingSince, unavailableSince?.() ?? failingSince);
      const isTolerable = performance.now() - since < toleranceMs();
      return { name, state: { ok: false, reason: reason?.() }, isTolerable };
    }
  };
}
