import { Refusal } from '../errors.ts';
import { Durations } from '../metrics/durations.ts';
import type { PoolLoad } from '../metrics/registry.ts';
import { type Counts, type MetricsRegistry, zeroCounts } from '../metrics/registry.ts';
import type { Attempts } from '../stores/attempts.ts';
import type { Records } from '../stores/records.ts';
import type { Sessions } from '../stores/sessions.ts';
import type { SingleUse } from '../stores/single-use.ts';
import { type Call, wrapCalls } from '../stores/wrap-calls.ts';
import type { StoreHealth } from './store-health.ts';
import type { StoreLog, Stores } from './stores.ts';

type Operation = 'read' | 'write';

/** What is measured of one store. */
interface StoreMeasures {
  readonly waits: Record<Operation, Durations>;
  readonly errors: Counts<Operation>;
}

/**
 * Every operation that is one step, except what is called on each request (`version`), in the background or by probes.
 */
export const recordsOperations: Record<
  Exclude<
    keyof Records,
    'version' | 'noteUse' | 'pruneAuditEvents' | 'takeCommandEvents' | 'ping' | 'backup' | 'close'
  >,
  Operation
> = {
  findUser: 'read',
  findUserByName: 'read',
  passwordHashKinds: 'read',
  activate: 'write',
  replacePasswordHash: 'write',
  keepSignIn: 'write',
  acceptIdentity: 'write',
  identitiesOf: 'read',
  findScopeSets: 'read',
  findScopeSetByName: 'read',
  findApiKeyByHash: 'read',
  findApiKey: 'read',
  listApiKeys: 'read',
  createApiKeyRecord: 'write',
  deleteApiKey: 'write',
  transferApiKey: 'write',
  listUserRecords: 'read',
  findUserRecord: 'read',
  createUserRecord: 'write',
  changeUserRecord: 'write',
  judgeUserRecord: 'write',
  removeUserRecord: 'write',
  linkUserIdentity: 'write',
  unlinkUserIdentity: 'write',
  inviteUser: 'write',
  findInvitation: 'read',
  redeemInvitation: 'write',
  endSessionsOfUser: 'write',
  endAllSessions: 'write',
  listScopeSets: 'read',
  findScopeSet: 'read',
  createScopeSet: 'write',
  changeScopeSet: 'write',
  removeScopeSet: 'write',
  addAuditEvents: 'write',
  listAuditEvents: 'read',
  findAuditEvent: 'read',
  applyManaged: 'write',
  configurationInForce: 'read',
  signingKeys: 'read',
  turnSigningKeys: 'write',
  secret: 'write',
  bootstrap: 'read',
  setBootstrapToken: 'write',
};

const sessionsOperations: Record<
  Exclude<keyof Sessions, 'noteUse' | 'onEnded' | 'countLive' | 'prune' | 'ping' | 'close'>,
  Operation
> = {
  create: 'write',
  present: 'write',
  findLive: 'read',
  find: 'read',
  idsOfProvider: 'read',
  revoke: 'write',
  revokeAllOf: 'write',
  list: 'read',
  revokeAll: 'write',
};

const attemptsOperations: Record<keyof Attempts, Operation> = {
  count: 'write',
  giveBack: 'write',
  findAttempts: 'read',
  liftAttempts: 'write',
};
const singleUseOperations: Record<keyof SingleUse, Operation> = {
  consume: 'write',
  wasConsumed: 'read',
  release: 'write',
};

const waitBounds = [0.0001, 0.00025, 0.0005, 0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5];

/**
 * The same stores, with the durations of their promises and their failures in the metrics. A synchronous response is
 * passed on unmeasured, without reading the clock.
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
  return {
    records: measured(stores.records, recordsOperations, measures.records),
    sessions: measured(stores.sessions, sessionsOperations, measures.sessions),
    attempts: measured(stores.attempts, attemptsOperations, measures.attempts),
    singleUse: measured(stores.singleUse, singleUseOperations, measures.sessions),
    logs: stores.logs,
    close: () => stores.close(),
  };
}

/** Adds whether the stores can be used. */
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

/** Counted when scraped: the store knows the number without visiting the sessions. */
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

function newMeasures(): StoreMeasures {
  return {
    waits: { read: new Durations(waitBounds), write: new Durations(waitBounds) },
    errors: zeroCounts(['read', 'write']),
  };
}

/** That store, with those operations measured. */
function measured<S extends object>(
  store: S,
  operations: Readonly<Partial<Record<keyof S, Operation>>>,
  { waits, errors }: StoreMeasures,
): S {
  return wrapCalls(store, (call, name) => {
    const operation = operations[name];
    if (operation === undefined) return call;
    return measuredOperation(call, waits[operation], () => {
      errors[operation]++;
    });
  });
}

function measuredOperation(run: Call, waits: Durations, onError: () => void): Call {
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

/** Whether the store failed to respond; a conflict, for example, is a response. */
function isFailure(error: unknown): boolean {
  return !(error instanceof Refusal) || error.code === 'store_unavailable';
}
