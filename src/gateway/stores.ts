import type { RedisAddress } from '../config/redis-address.ts';
import type { Config } from '../config/schema.ts';
import type { RecordsAddress } from '../config/store-addresses.ts';
import type { PoolLoad } from '../metrics/registry.ts';
import type { Attempts } from '../stores/attempts.ts';
import type { PostgresAccess } from '../stores/postgres/client-config.ts';
import type { Records } from '../stores/records.ts';
import type { Sessions } from '../stores/sessions.ts';
import type { SingleUse } from '../stores/single-use.ts';
import type { CopyEnd } from '../stores/sql/copy-end.ts';
import { openSqliteCopySource, openSqliteCopyTarget } from '../stores/sqlite/copy-end.ts';
import { problemOfDatabaseFile } from '../stores/sqlite/inspect.ts';
import { createSqliteRecords } from '../stores/sqlite/records.ts';
import { createSqliteSessions } from '../stores/sqlite/sessions.ts';
import { createSteadyClock } from '../stores/steady-clock.ts';

/** The stores of a configuration, open. */
export interface Stores {
  readonly records: Records;
  readonly sessions: Sessions;
  /** Counters of failed attempts; where the sessions are. */
  readonly attempts: Attempts;
  readonly singleUse: SingleUse;
  /** Of the connections to the server that has the records; absent where a file does. */
  recordsPool?(): PoolLoad;
  close(): Promise<void>;
}

/** Where there are records, or shall be. */
export interface RecordsLocation extends Pick<PostgresAccess, 'password' | 'tls'> {
  readonly address: RecordsAddress;
  /** What gives the address, for messages: the key of the configuration, or an option. */
  readonly key: string;
}

type StoreName = 'records' | 'sessions';

/** Notifications about the stores. */
export interface StoreEvents {
  /** A store that is a separate server. `since`, as by `performance.now()`: its last sign of life, where known. */
  onUnavailable(store: StoreName, reason: string, since?: number): void;
  onAvailable(store: StoreName): void;
  /** A file of it was accessible to others, with that mode; it no longer is. */
  onNarrowed(file: string, mode: string): void;
  /** Usable, but without notifications of changes, for that reason: caches are revalidated at short intervals. */
  onNotificationsLost(store: StoreName, reason: string): void;
}

type RecordsStore = Pick<Stores, 'records' | 'recordsPool'>;
type SessionStores = Pick<Stores, 'sessions' | 'attempts' | 'singleUse'>;

/** How long a start waits for Redis before it continues without it, ms. */
const sessionsTimeoutMs = 2_000;

/**
 * Opens the configured stores, creating or migrating them; the only place that knows the kinds of stores, and it loads
 * only the drivers that are needed. An unavailable Redis is not a failure: it is retried for as long as the stores are
 * open. The records store must be reachable within `recordsTimeoutMs`.
 *
 * Rejects with a `StoreOpenError` naming the file or address and the reason. `now` returns epoch ms.
 */
export async function openStores(
  config: Config,
  now: () => number,
  events: StoreEvents,
  recordsTimeoutMs: number,
): Promise<Stores> {
  const location = await openRecords(config, now, events, recordsTimeoutMs);
  const { records } = location;
  try {
    const opened = await openSessionStores(config, now, events);
    return {
      ...location,
      ...opened,
      async close() {
        await Promise.all([records.close(), opened.sessions.close()]);
      },
    };
  } catch (error) {
    await records.close();
    throw error;
  }
}

/**
 * Opens records to copy them, without a change to them; rejects as {@link openStores} does, also when there are none.
 */
export async function openCopySource({ address, key, ...access }: RecordsLocation): Promise<CopyEnd> {
  if (address.kind === 'sqlite') return openSqliteCopySource(address.path);
  const { openPostgresCopySource } = await import('../stores/postgres/copy-end.ts');
  return openPostgresCopySource({ address, ...access }, key);
}

/** Opens the place that records are copied to, made and migrated as needed; rejects as {@link openStores} does. */
export async function openCopyTarget(
  { address, key, ...access }: RecordsLocation,
  onNarrowed: StoreEvents['onNarrowed'],
): Promise<CopyEnd> {
  if (address.kind === 'sqlite') return openSqliteCopyTarget(address.path, onNarrowed);
  const { openPostgresCopyTarget } = await import('../stores/postgres/copy-end.ts');
  return openPostgresCopyTarget({ address, ...access }, key);
}

/** A store that can't be opened, as far as that can be seen without opening it. */
export interface StoreFileProblem {
  readonly store: 'records' | 'sessions';
  readonly reason: string;
}

/** What prevents the files of the stores from being opened; only for a process that has not opened them. */
export function problemsOfStoreFiles({ stores }: Config): readonly StoreFileProblem[] {
  const { records, sessions } = stores;
  if (records.kind === 'sqlite' && sessions.kind === 'sqlite' && records.path === sessions.path)
    return [{ store: 'sessions', reason: 'must be another file than stores.records' }];
  return (['records', 'sessions'] as const).flatMap((store) => {
    const address = stores[store];
    if (address.kind !== 'sqlite') return [];
    const problem = problemOfDatabaseFile(address.path, store);
    return problem === undefined ? [] : [{ store, reason: `${address.path} ${problem}` }];
  });
}

async function openRecords(
  config: Config,
  now: () => number,
  events: StoreEvents,
  openTimeoutMs: number,
): Promise<RecordsStore> {
  const { stores, sessions, tenant } = config;
  const staleIfErrorMs = sessions.stale_if_error;
  const address = stores.records;
  if (address.kind === 'sqlite')
    return {
      records: createSqliteRecords(address.path, {
        now,
        pollsOncePerTurn: true,
        staleIfErrorMs,
        onNarrowed: events.onNarrowed,
      }),
    };
  const { openSharedRecords } = await import('../stores/postgres/open.ts');
  const { records, poolLoad } = await openSharedRecords({
    access: { address, password: stores.records_password, tls: stores.records_tls },
    tenant,
    now,
    timeoutMs: stores.records_statement_timeout,
    maxConnections: stores.records_connections,
    staleIfErrorMs,
    openTimeoutMs,
    events: {
      onUnavailable: (reason, since) => events.onUnavailable('records', reason, since),
      onAvailable: () => events.onAvailable('records'),
    },
  });
  return { records, recordsPool: poolLoad };
}

async function openSessionStores(
  config: Config,
  now: () => number,
  events: StoreEvents,
): Promise<SessionStores> {
  const staleIfErrorMs = config.sessions.stale_if_error;
  const address = config.stores.sessions;
  if (address.kind === 'sqlite') {
    const clock = createSteadyClock(now);
    const sessions = createSqliteSessions(address.path, {
      now: clock,
      pollsOncePerTurn: true,
      staleIfErrorMs,
      onNarrowed: events.onNarrowed,
    });
    return { sessions, attempts: sessions, singleUse: sessions };
  }
  return openInRedis(address, config, now, events);
}

async function openInRedis(
  address: RedisAddress,
  config: Config,
  now: () => number,
  events: StoreEvents,
): Promise<SessionStores> {
  const { stores } = config;
  const { openRedisStores } = await import('../stores/redis/open.ts');
  const { promise: connected, resolve: onConnected } = Promise.withResolvers<void>();
  const opened = openRedisStores({
    access: {
      address,
      username: stores.sessions_username,
      password: stores.sessions_password,
      sentinelPassword: stores.sessions_sentinel_password,
      tls: stores.sessions_tls,
    },
    tenant: config.tenant,
    commandTimeoutMs: stores.sessions_command_timeout,
    livenessAgeMs: stores.sessions_liveness_age,
    staleIfErrorMs: config.sessions.stale_if_error,
    // The store goes by its own clock, but for a test that has the gateway's in its hand.
    testClock: now === Date.now ? undefined : now,
    events: {
      onUnavailable: (reason) => events.onUnavailable('sessions', reason),
      onAvailable() {
        onConnected();
        events.onAvailable('sessions');
      },
      onNotificationsLost: (reason) => events.onNotificationsLost('sessions', reason),
    },
  });
  const giveUpTimer = setTimeout(onConnected, sessionsTimeoutMs);
  await connected;
  clearTimeout(giveUpTimer);
  return opened;
}
