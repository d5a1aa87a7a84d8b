import type { Config } from './config/schema.ts';
import type { Attempts } from './stores/attempts.ts';
import { createMemoryAttempts } from './stores/memory/attempts.ts';
import type { Records } from './stores/records.ts';
import { isRedisAddress, parseRedisAddress } from './stores/redis/address.ts';
import { openRedisStores } from './stores/redis/open.ts';
import type { Sessions } from './stores/sessions.ts';
import type { SingleUse } from './stores/single-use.ts';
import { createSqliteRecords } from './stores/sqlite/records.ts';
import { createSqliteSessions } from './stores/sqlite/sessions.ts';
import { StoreOpenError } from './stores/sqlite/store-open-error.ts';

/** The stores of a configuration, open. */
export interface Stores {
  readonly records: Records;
  readonly sessions: Sessions;
  /** Counters of failed attempts: of this process alone where sessions are in SQLite. */
  readonly attempts: Attempts;
  readonly singleUse: SingleUse;
  close(): Promise<void>;
}

/** Told when a store that is a server of its own goes away and comes back. */
export interface StoreEvents {
  onAway(store: 'sessions', reason: string): void;
  onBack(store: 'sessions'): void;
  /** It can be used, but does not tell of changes, for that reason: everything has to be asked anew at short intervals. */
  onDeaf(store: 'sessions', reason: string): void;
}

type SessionStores = Pick<Stores, 'sessions' | 'attempts' | 'singleUse'>;

const sqliteScheme = 'sqlite:';

/** How long a start waits for a store that is a server, ms: longer it does without. */
const firstConnectionMs = 3_000;

/**
 * Opens the configured stores, creating or migrating them; the only place that knows which kinds there are. A Redis that
 * is away is no failure: it is tried again for as long as the stores are open.
 *
 * Throws {@link StoreOpenError} naming the file or address and the reason. `now` gives epoch ms.
 */
export async function openStores(config: Config, now: () => number, events: StoreEvents): Promise<Stores> {
  const records = createSqliteRecords(requireSqliteFile('stores.records', config.stores.records), {
    now,
    asksOncePerTurn: true,
  });
  try {
    const opened = await openSessionStores(config, now, events);
    return {
      records,
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

async function openSessionStores(
  config: Config,
  now: () => number,
  events: StoreEvents,
): Promise<SessionStores> {
  const staleIfErrorMs = config.sessions.stale_if_error;
  if (!isRedisAddress(config.stores.sessions)) {
    const file = requireSqliteFile('stores.sessions', config.stores.sessions);
    const sessions = createSqliteSessions(file, { now, asksOncePerTurn: true, staleIfErrorMs });
    return { sessions, attempts: createMemoryAttempts(), singleUse: sessions };
  }
  return openInRedis(config, now, events);
}

async function openInRedis(config: Config, now: () => number, events: StoreEvents): Promise<SessionStores> {
  const { stores } = config;
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
      onAway: (reason) => events.onAway('sessions', reason),
      onBack() {
        onConnected();
        events.onBack('sessions');
      },
      onDeaf: (reason) => events.onDeaf('sessions', reason),
    },
  });
  const patience = setTimeout(onConnected, firstConnectionMs);
  await connected;
  clearTimeout(patience);
  return opened;
}

/** A configured store of a kind that this version can't open: its key in the configuration and what it must be instead. */
export interface UnsupportedStore {
  readonly key: 'stores.records' | 'stores.sessions';
  readonly rule: string;
}

/** The stores of a valid configuration that {@link openStores} would refuse for their kind alone. */
export function unsupportedStores({ stores }: Pick<Config, 'stores'>): readonly UnsupportedStore[] {
  return isSqlite(stores.records) ? [] : [{ key: 'stores.records', rule: sqliteRule }];
}

const sqliteRule = 'must be sqlite:PATH in this version';

function isSqlite(address: string): boolean {
  return address.startsWith(sqliteScheme);
}

function requireSqliteFile(key: UnsupportedStore['key'], address: string): string {
  if (isSqlite(address)) return address.slice(sqliteScheme.length);
  // Never the address itself: it may hold a password.
  throw new StoreOpenError(key, sqliteRule);
}
