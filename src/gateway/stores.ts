import type { Config } from '../config/schema.ts';
import type { PoolLoad } from '../metrics/pool-load.ts';
import type { Attempts } from '../stores/attempts.ts';
import { isPostgresAddress, parsePostgresAddress } from '../stores/postgres/address.ts';
import type { PostgresAccess } from '../stores/postgres/client-config.ts';
import type { Records } from '../stores/records.ts';
import { isRedisAddress, parseRedisAddress } from '../stores/redis/address.ts';
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
  /** As `stores.records`. */
  readonly address: string;
  /** What gives the address, for messages: the key of the configuration, or an option. */
  readonly key: string;
}

type StoreName = 'records' | 'sessions';

/** Told when a store that is a server of its own goes away and comes back. */
export interface StoreEvents {
  /** `since`, as by `performance.now()`: when it was last heard, where that is known. */
  onUnavailable(store: StoreName, reason: string, since?: number): void;
  onAvailable(store: StoreName): void;
  /** A file of it could be read by others, by that mode, and can't be any more. */
  onNarrowed(file: string, mode: string): void;
  /** It can be used, but does not tell of changes, for that reason: everything has to be asked anew at short intervals. */
  onNotificationsLost(store: StoreName, reason: string): void;
}

type RecordsStore = Pick<Stores, 'records' | 'recordsPool'>;
type SessionStores = Pick<Stores, 'sessions' | 'attempts' | 'singleUse'>;

const sqliteScheme = 'sqlite:';

/** How long a start waits for a Redis before it does without, ms. */
const sessionsTimeoutMs = 2_000;

/**
 * Opens the configured stores, creating or migrating them; the only place that knows which kinds there are, and loads the
 * drivers of no other. A Redis that is away is no failure: it is tried again for as long as the stores are open. Records
 * have to be there within `recordsTimeoutMs`.
 *
 * Rejects with a `StoreOpenError` naming the file or address and the reason. `now` gives epoch ms.
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

/** Opens records to copy them, without a change to them; rejects as {@link openStores} does, also when there are none. */
export async function openCopySource(location: RecordsLocation): Promise<CopyEnd> {
  if (!isPostgresAddress(location.address)) return openSqliteCopySource(sqliteFile(location.address));
  const { openPostgresCopySource } = await import('../stores/postgres/copy-end.ts');
  return openPostgresCopySource(accessTo(location), location.key);
}

/** Opens the place that records are copied to, made and migrated as needed; rejects as {@link openStores} does. */
export async function openCopyTarget(
  location: RecordsLocation,
  onNarrowed: StoreEvents['onNarrowed'],
): Promise<CopyEnd> {
  if (!isPostgresAddress(location.address))
    return openSqliteCopyTarget(sqliteFile(location.address), onNarrowed);
  const { openPostgresCopyTarget } = await import('../stores/postgres/copy-end.ts');
  return openPostgresCopyTarget(accessTo(location), location.key);
}

/** A store that can't be opened, as far as that can be seen without opening it. */
export interface StoreFileProblem {
  readonly store: 'records' | 'sessions';
  readonly reason: string;
}

/** What stands in the way of opening the files of the stores; only for a process that has not opened them. */
export function problemsOfStoreFiles({ stores }: Config): readonly StoreFileProblem[] {
  return (['records', 'sessions'] as const).flatMap((store) => {
    if (!stores[store].startsWith(sqliteScheme)) return [];
    const file = sqliteFile(stores[store]);
    const problem = problemOfDatabaseFile(file, store);
    return problem === undefined ? [] : [{ store, reason: `${file} ${problem}` }];
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
  if (!isPostgresAddress(stores.records)) {
    const file = sqliteFile(stores.records);
    return {
      records: createSqliteRecords(file, {
        now,
        asksOncePerTurn: true,
        staleIfErrorMs,
        onNarrowed: events.onNarrowed,
      }),
    };
  }
  const { openSharedRecords } = await import('../stores/postgres/open.ts');
  const { records, poolLoad } = await openSharedRecords({
    access: accessTo({
      address: stores.records,
      password: stores.records_password,
      tls: stores.records_tls,
    }),
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
  if (!isRedisAddress(config.stores.sessions)) {
    const file = sqliteFile(config.stores.sessions);
    const clock = createSteadyClock(now);
    const sessions = createSqliteSessions(file, {
      now: clock,
      asksOncePerTurn: true,
      staleIfErrorMs,
      onNarrowed: events.onNarrowed,
    });
    return { sessions, attempts: sessions, singleUse: sessions };
  }
  return openInRedis(config, now, events);
}

async function openInRedis(config: Config, now: () => number, events: StoreEvents): Promise<SessionStores> {
  const { stores } = config;
  const { openRedisStores } = await import('../stores/redis/open.ts');
  const { promise: connected, resolve: onConnected } = Promise.withResolvers<void>();
  const opened = openRedisStores({
    access: {
      address: parseRedisAddress(stores.sessions),
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

function accessTo({ address, password, tls }: Omit<RecordsLocation, 'key'>): PostgresAccess {
  return { address: parsePostgresAddress(address), password, tls };
}

/** The file of a store that is none of the servers above. */
function sqliteFile(address: string): string {
  return address.slice(sqliteScheme.length);
}
