import type { LookupFunction } from 'node:net';
import type { ReadFile } from '../config/configured-files.ts';
import type { Config } from '../config/sections/schema.ts';
import { loadEncryptionKeys } from '../config/values/encryption-keys.ts';
import type { RedisAddress } from '../config/values/redis-address.ts';
import type { RecordsAddress } from '../config/values/store-addresses.ts';
import type { PoolLoad } from '../metrics/registry.ts';
import type { Attempts } from '../stores/attempts.ts';
import type { PostgresAccess } from '../stores/postgres/client-config.ts';
import { createRecordSeals, SealError } from '../stores/record-seals.ts';
import type { Records } from '../stores/records.ts';
import type { ServerClock } from '../stores/remote/server-clock.ts';
import type { Sessions } from '../stores/sessions.ts';
import type { SingleUse } from '../stores/single-use.ts';
import type { CopyEnd } from '../stores/sql/copy.ts';
import type { LogState } from '../stores/sqlite/log-size.ts';
import type { SqliteRecords } from '../stores/sqlite/records.ts';
import { StoreOpenError } from '../stores/store-open-error.ts';
import { assertMayCreate, type Creation } from './store-files.ts';

/** The stores of a configuration, open. */
export interface Stores {
  readonly records: Records;
  readonly sessions: Sessions;
  /** Counters of failed attempts, kept where the sessions are. */
  readonly attempts: Attempts;
  readonly singleUse: SingleUse;
  /** Load of the connections to the server of the records; absent if the records are in a file. */
  recordsPool?(): PoolLoad;
  /** The write-ahead logs of the stores in files. */
  readonly logs: readonly StoreLog[];
  close(): Promise<void>;
}

/** The stores as they were opened. */
export interface OpenedStores extends Stores {
  /** Clocks of the stores that are on servers. */
  readonly clocks: readonly ServerClock[];
}

/** The write-ahead log of a store in a file. */
export interface StoreLog {
  readonly store: StoreName;
  state(): LogState;
}

/** Location of existing records, or of records to be created. */
export interface RecordsLocation extends Pick<PostgresAccess, 'password' | 'tls'> {
  readonly address: RecordsAddress;
  /** Source of the address, for messages: a key of the configuration, or an option. */
  readonly key: string;
}

/** The name of a store with an address of its own. */
export type StoreName = 'records' | 'sessions';

/** Notifications about the stores. */
export interface StoreEvents {
  /** `since`, by `performance.now()`: the instant from which the store counts as unavailable; absent: now. */
  onUnavailable(store: StoreName, reason: string, since?: number): void;
  onAvailable(store: StoreName): void;
  /** A file of a store was accessible to others, with that mode; it no longer is. */
  onNarrowed(file: string, mode: string): void;
  /** A file was created for the store. */
  onCreated(store: StoreName, file: string): void;
  /** A held snapshot makes the log of the store's file grow; called again whenever the log has doubled. */
  onLogHeld(store: StoreName, log: LogState): void;
  onLogEmptied(store: StoreName): void;
  /**
   * Private keys and secrets of the records have been encrypted, or encrypted with another key. `isRemaining`: an earlier copy is
   * still in the file, because another process is reading it; the next start tries again to remove it.
   */
  onSecretsEncrypted(isRemaining: boolean): void;
  /** The file of the records was begun for that other tenant. */
  onOtherTenant(owner: string): void;
  /** A usable store can't report changes, for that reason: caches are revalidated at short intervals. */
  onNotificationsLost(store: StoreName, reason: string): void;
}

/** Stores of one address, and the clock of its server. */
type WithClock<Name extends keyof Stores> = Pick<Stores, Name> & { readonly serverClock?: ServerClock };
type RecordsStore = WithClock<'records' | 'recordsPool' | 'logs'>;
type SessionStores = WithClock<'sessions' | 'attempts' | 'singleUse' | 'logs'>;

/** Options for opening the stores. */
export interface OpenStoresOptions {
  /** The clock, epoch ms. */
  readonly now: () => number;
  readonly events: StoreEvents;
  /** Time to reach the records store, ms. */
  readonly recordsTimeoutMs: number;
  /** Cases in which missing files are created. */
  readonly creates: Creation;
  /** Time for which a cached result counts while its store is unavailable, ms; a reload may change it. */
  readonly staleIfErrorMs: () => number;
  /** Reads the files for TLS; default: from the disk. */
  readonly readFile?: ReadFile;
  /** Finds servers by name; default: getaddrinfo(3). */
  readonly lookup?: LookupFunction;
}

/** Time that a start waits for Redis before it continues without it, ms. */
const sessionsTimeoutMs = 2_000;

/**
 * Opens the configured stores, migrating them and creating them where `creates` allows that. This is the only place that knows
 * the kinds of stores, and it loads only the drivers that are needed. An unavailable Redis is not a failure: it is retried for as
 * long as the stores are open. The records store must be reachable in time. Rejects with a `StoreOpenError` naming the file or
 * address and the reason.
 */
export async function openStores(config: Config, options: OpenStoresOptions): Promise<OpenedStores> {
  assertMayCreate('records', config, options.creates);
  const location = await openRecords(config, options);
  const { records } = location;
  try {
    assertMayCreate('sessions', config, options.creates);
    const opened = await openSessionStores(config, options);
    return {
      ...location,
      ...opened,
      logs: [...location.logs, ...opened.logs],
      clocks: [location, opened].flatMap(({ serverClock }) => serverClock ?? []),
      async close() {
        await Promise.all([records.close(), opened.sessions.close()]);
      },
    };
  } catch (error) {
    await records.close();
    throw error;
  }
}

/** Opens records for a copy, which leaves them unchanged; rejects as {@link openStores} does, and when there are no records. */
export async function openCopySource({ address, key, ...access }: RecordsLocation): Promise<CopyEnd> {
  if (address.kind === 'sqlite') {
    const { openSqliteCopySource } = await import('../stores/sqlite/copy-end.ts');
    return openSqliteCopySource(address.path);
  }
  const { openPostgresCopySource } = await import('../stores/postgres/copy-end.ts');
  return openPostgresCopySource({ address, ...access }, key);
}

/** Opens the target of a copy, created and migrated as needed; rejects as {@link openStores} does. */
export async function openCopyTarget(
  { address, key, ...access }: RecordsLocation,
  onNarrowed: StoreEvents['onNarrowed'],
): Promise<CopyEnd> {
  if (address.kind === 'sqlite') {
    const { openSqliteCopyTarget } = await import('../stores/sqlite/copy-end.ts');
    return openSqliteCopyTarget(address.path, onNarrowed);
  }
  const { openPostgresCopyTarget } = await import('../stores/postgres/copy-end.ts');
  return openPostgresCopyTarget({ address, ...access }, key);
}

async function openRecords(
  config: Config,
  { now, events, recordsTimeoutMs, creates, staleIfErrorMs, readFile, lookup }: OpenStoresOptions,
): Promise<RecordsStore> {
  const { stores, tenant } = config;
  const address = stores.records;
  const seals = createRecordSeals(tenant, loadEncryptionKeys(stores.records_encryption, readFile));
  if (address.kind === 'sqlite') {
    const { createSqliteRecords } = await import('../stores/sqlite/records.ts');
    const records = createSqliteRecords(address.path, {
      now,
      pollsOncePerTurn: true,
      staleIfErrorMs,
      seals,
      ...fileOptions('records', events, creates),
    });
    const sealed = await sealAll(records, address.path);
    if (sealed.isRewritten || sealed.isRemaining) events.onSecretsEncrypted(sealed.isRemaining);
    const owner = await ownerOf(records, tenant);
    if (owner !== tenant) events.onOtherTenant(owner);
    return { records, logs: [{ store: 'records', state: records.logState }] };
  }
  const { openSharedRecords } = await import('../stores/postgres/open.ts');
  const { records, serverClock, poolLoad, isRewritten } = await openSharedRecords({
    access: { address, password: stores.records_password, tls: stores.records_tls, readFile, lookup },
    tenant,
    seals,
    now,
    timeoutMs: stores.records_statement_timeout,
    maxConnections: stores.records_connections,
    staleIfErrorMs,
    openTimeoutMs: recordsTimeoutMs,
    events: eventsOf('records', events),
  });
  if (isRewritten) events.onSecretsEncrypted(false);
  return { records, serverClock, recordsPool: poolLoad, logs: [] };
}

/** The tenant that the records were begun for: this one, if none is noted, or if the file is locked or its disk full. */
async function ownerOf(records: SqliteRecords, tenant: string): Promise<string> {
  try {
    return Buffer.from(await records.secret('tenant', Buffer.from(tenant))).toString();
  } catch {
    return tenant;
  }
}

async function sealAll(records: SqliteRecords, file: string): ReturnType<SqliteRecords['sealAll']> {
  try {
    return await records.sealAll();
  } catch (error) {
    await records.close();
    throw error instanceof SealError ? new StoreOpenError(file, error.message, error) : error;
  }
}

async function openSessionStores(config: Config, options: OpenStoresOptions): Promise<SessionStores> {
  const { now, events, creates, staleIfErrorMs } = options;
  const address = config.stores.sessions;
  if (address.kind === 'sqlite') {
    const { createSqliteSessions } = await import('../stores/sqlite/sessions.ts');
    const sessions = createSqliteSessions(address.path, {
      now,
      pollsOncePerTurn: true,
      staleIfErrorMs,
      ...fileOptions('sessions', events, creates),
    });
    const logs: readonly StoreLog[] = [{ store: 'sessions', state: sessions.logState }];
    return { sessions, attempts: sessions, singleUse: sessions, logs };
  }
  return { ...(await openInRedis(address, config, options)), logs: [] };
}

/** Options of a store in a file: whether it may be created, and its event handlers. */
function fileOptions(store: StoreName, events: StoreEvents, creates: Creation) {
  return {
    mayCreate: creates !== 'never',
    onNarrowed: events.onNarrowed,
    onCreated: (file: string) => events.onCreated(store, file),
    events: eventsOf(store, events),
  };
}

/** The event handlers of one store. */
function eventsOf(store: StoreName, events: StoreEvents) {
  return {
    onUnavailable: (reason: string, since?: number) => events.onUnavailable(store, reason, since),
    onAvailable: () => events.onAvailable(store),
    onLogHeld: (log: LogState) => events.onLogHeld(store, log),
    onLogEmptied: () => events.onLogEmptied(store),
    onNotificationsLost: (reason: string) => events.onNotificationsLost(store, reason),
  };
}

async function openInRedis(
  address: RedisAddress,
  config: Config,
  { now, events, staleIfErrorMs, readFile, lookup }: OpenStoresOptions,
): Promise<Omit<SessionStores, 'logs'>> {
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
      readFile,
      lookup,
    },
    tenant: config.tenant,
    commandTimeoutMs: stores.sessions_command_timeout,
    livenessAgeMs: stores.sessions_liveness_age,
    staleIfErrorMs,
    // The store uses its own clock, except in tests, which control the gateway's.
    testClock: now === Date.now ? undefined : now,
    events: {
      ...eventsOf('sessions', events),
      onAvailable() {
        onConnected();
        events.onAvailable('sessions');
      },
    },
  });
  const giveUpTimer = setTimeout(onConnected, sessionsTimeoutMs);
  await connected;
  clearTimeout(giveUpTimer);
  const { serverClock, ...parts } = opened;
  // A clock that a test controls is the store's, too.
  return now === Date.now ? { ...parts, serverClock } : parts;
}
