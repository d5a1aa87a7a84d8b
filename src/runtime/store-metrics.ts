import { Refusal } from '../errors.ts';
import { Durations } from '../metrics/durations.ts';
import { type MetricsRegistry, type PoolLoad, zeroCounts } from '../metrics/registry.ts';
import { type Call, wrapStores } from '../stores/operations.ts';
import type { Sessions } from '../stores/sessions.ts';
import type { StoreHealth } from './store-health.ts';
import type { StoreLog, Stores } from './stores.ts';

const waitBounds = [0.0001, 0.00025, 0.0005, 0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5];

/**
 * Wraps the stores to measure the durations and failures of their promises. A synchronous response is passed on unmeasured,
 * without reading the clock.
 */
export function measureStores(stores: Stores, registry: MetricsRegistry): Stores {
  const measures = { records: newMeasures(), sessions: newMeasures(), attempts: newMeasures() };
  const all = Object.entries(measures).flatMap(([store, { waits, errors }]) =>
    (['read', 'write'] as const).map((operation) => ({
      labels: { store, operation },
      waits: waits[operation],
      errors: () => errors[operation],
    })),
  );
  registry.add({
    name: 'store_duration_seconds',
    help: 'How long a store took, by store (records, sessions, attempts) and operation (read, write).',
    type: 'histogram',
    collect: (name) => all.flatMap(({ labels, waits }) => waits.samples(name, labels)),
  });
  registry.add({
    name: 'store_errors_total',
    help: 'Failed store operations, by store and operation.',
    type: 'counter',
    collect: () => all.map(({ labels, errors }) => ({ labels, value: errors() })),
  });
  addLiveSessions(registry, stores.sessions);
  if (stores.logs.length > 0) addLogs(registry, stores.logs);
  if (stores.recordsPool !== undefined) addRecordsPool(registry, stores.recordsPool);
  return wrapStores(stores, (call, { store, kind }) => {
    const { waits, errors } = measures[store === 'single_use' ? 'sessions' : store];
    return measured(call, waits[kind], () => {
      errors[kind]++;
    });
  });
}

/** Adds the metric of the stores' availability. */
export function addStoreHealth(registry: MetricsRegistry, health: Pick<StoreHealth, 'isAvailable'>): void {
  registry.gaugeBy(
    'store',
    'store_up',
    '1 while the store is available, otherwise 0; by store.',
    () => (['records', 'sessions'] as const).map((store) => [store, health.isAvailable(store) ? 1 : 0]),
    'min',
  );
}

function addLogs(registry: MetricsRegistry, logs: readonly StoreLog[]): void {
  registry.gaugeBy(
    'store',
    'store_log_bytes',
    'Length of the write-ahead log of a SQLite file, by store.',
    () => logs.map(({ store, state }) => [store, state().bytes]),
    'max',
  );
  registry.gaugeBy(
    'store',
    'store_log_held_seconds',
    'How long a snapshot has kept that log from being emptied, by store.',
    () => logs.map(({ store, state }) => [store, state().heldMs / 1000]),
    'max',
  );
}

/** Adds the metric of live sessions, counted when scraped: the store knows their number without visiting them. */
function addLiveSessions(registry: MetricsRegistry, sessions: Pick<Sessions, 'countLive'>): void {
  registry.add({
    name: 'sessions',
    help: 'Live sessions in the session store; absent while it is unavailable.',
    type: 'gauge',
    combination: 'max',
    async collect() {
      try {
        return [{ labels: {}, value: await sessions.countLive() }];
      } catch {
        return [];
      }
    },
  });
}

function addRecordsPool(registry: MetricsRegistry, load: () => PoolLoad): void {
  registry.gaugeBy(
    'state',
    'records_connections',
    'Connections to the PostgreSQL of the records, by state: busy, free.',
    () => {
      const { busy, free } = load();
      return Object.entries({ busy, free });
    },
  );
  registry.gauge(
    'records_waiting',
    'Calls waiting for a connection to that PostgreSQL.',
    () => load().waiting,
  );
}

function newMeasures() {
  return {
    waits: { read: new Durations(waitBounds), write: new Durations(waitBounds) },
    errors: zeroCounts(['read', 'write']),
  };
}

function measured(run: Call, waits: Durations, onError: () => void): Call {
  return (...args) => {
    let result: unknown;
    try {
      result = run(...args);
    } catch (error) {
      if (isFailure(error)) onError();
      throw error;
    }
    if (result instanceof Promise) noteWait(result);
    return result;
  };

  /** Observes the promise without wrapping it. */
  function noteWait(result: Promise<unknown>): void {
    const startedMs = performance.now();
    const over = () => waits.record(performance.now() - startedMs);
    result.then(over, (error) => {
      over();
      if (isFailure(error)) onError();
    });
  }
}

/** True if the store failed to respond; a conflict, for example, is a response. */
function isFailure(error: unknown): boolean {
  return !(error instanceof Refusal) || error.code === 'store_unavailable';
}
