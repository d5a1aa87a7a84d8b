import type { Client } from 'pg';
import type { PoolLoad } from '../../metrics/registry.ts';
import { createRecordSeals, type RecordSeals } from '../record-seals.ts';
import type { RemoteRecords } from '../records.ts';
import type { RecordsChange } from '../remote/change-feed.ts';
import { compareClock, type ServerClock } from '../remote/server-clock.ts';
import { createSqlRecords } from '../sql/records.ts';
import { sealAll } from '../sql/sealed-values.ts';
import { type LogPosition, readStoreState } from './change-log.ts';
import { changeChannel, isReadOnly } from './changes.ts';
import { CheckedClient } from './checked-client.ts';
import { createClientConfig, type PostgresAccess } from './client-config.ts';
import { createPostgresDatabase } from './database.ts';
import { unavailable } from './failures.ts';
import { GroupedWrites } from './grouped-writes.ts';
import { migratePostgres } from './migrate.ts';
import { type Epoch, SessionPool } from './pool.ts';
import { retryConflicts } from './transaction.ts';

/** Options of a records store in PostgreSQL. */
export interface PostgresRecordsOptions {
  readonly access: PostgresAccess;
  /** The clock, epoch milliseconds. */
  readonly now: () => number;
  /** The maximum number of connections, at least 2, not counting the one that listens. */
  readonly maxConnections: number;
  /** Timeout of a whole call, ms. */
  readonly timeoutMs: number;
  /** Encrypts private keys and secrets; default: nothing is encrypted. */
  readonly seals?: RecordSeals;
  /** As in {@link ./grouped-writes.ts GroupedWritesOptions}; default: no one is notified of changes. */
  readonly onChange?: (change: RecordsChange | null) => void;
}

/**
 * The records store in PostgreSQL: every call queries the server. A write that rejects `store_unavailable` may nonetheless
 * have happened, as a whole: the reply to its COMMIT may have been lost.
 */
export interface PostgresRecords extends RemoteRecords {
  /** As {@link ../sql/sealed-values.ts sealAll}. */
  sealAll(): Promise<boolean>;
  /** The current position in the log of changes. */
  readPosition(): Promise<LogPosition>;
  readonly serverClock: ServerClock;
  /** Load of all connections except the one that listens. */
  poolLoad(): PoolLoad;
}

/** The `application_name` of the connection that listens; the others are `postern`. */
export const listenerName = 'postern-listener';

/** Brings the schema up to date and opens the store; rejects as {@link ./migrate.ts migratePostgres} does. */
export async function openPostgresRecords(options: PostgresRecordsOptions): Promise<PostgresRecords> {
  await migratePostgres(options.access);
  return createPostgresRecords(options);
}

/** Creates the store on a schema that is up to date; it connects at the first call. */
export function createPostgresRecords(options: PostgresRecordsOptions): PostgresRecords {
  const {
    access,
    now,
    maxConnections,
    timeoutMs,
    seals = createRecordSeals('', []),
    onChange = () => {},
  } = options;
  const config = createClientConfig(access, timeoutMs);
  const epoch: Epoch = { current: 0 };
  const writer = new SessionPool({ config, max: 1, timeoutMs, epoch });
  const readers = new SessionPool({
    config,
    max: Math.max(maxConnections - 1, 1),
    timeoutMs,
    epoch,
    // Most calls only read, and recording a use twice does no harm either.
    repeats: true,
  });
  const channel = changeChannel(access.address.schema);
  const writes = new GroupedWrites({ pool: writer, channel, timeoutMs, onChange });
  // The store uses its own clock, except in tests, which control the gateway's.
  const testClock = now === Date.now ? undefined : now;
  const database = createPostgresDatabase(readers, writes, testClock);

  return {
    ...createSqlRecords(database, now, seals),
    sealAll: () => sealAll(database, seals),
    noteUse: (keys) => noteUse(readers, keys),
    async readPosition() {
      const { version, mark } = await readers.use((session) => readStoreState(session.query, null));
      return { version, mark };
    },
    serverClock: {
      store: 'records',
      compare: async (clock) => [await compareClock(clock, () => readTime(readers))],
    },
    poolLoad() {
      const [one, other] = [readers.load(), writer.load()];
      return {
        busy: one.busy + other.busy,
        free: one.free + other.free,
        waiting: one.waiting + other.waiting + writes.waiting,
      };
    },
    ping: () => ping(readers, epoch),
    backup: () => Promise.reject(new Error('back up a PostgreSQL store with pg_dump')),
    async close() {
      await Promise.all([readers.close(), writer.close()]);
    },
  };
}

/** Creates a dedicated client to listen on {@link ./changes.ts changeChannel}; it is not connected yet. */
export function createPostgresClient(access: PostgresAccess, timeoutMs: number): Client {
  return new CheckedClient({ ...createClientConfig(access, timeoutMs), application_name: listenerName });
}

/** The server's time, epoch ms. */
async function readTime(readers: SessionPool): Promise<number> {
  const sql = 'SELECT (extract(epoch FROM clock_timestamp()) * 1000)::float8 AS time';
  const [row] = (await readers.use((session) => session.query(sql))) as readonly { readonly time: number }[];
  if (!Number.isFinite(row?.time)) throw unavailable('unexpected reply to a query for the time');
  return row!.time;
}

async function ping(readers: SessionPool, epoch: Epoch): Promise<void> {
  const [row] = (await readers.use((session) =>
    session.query(`SELECT ${isReadOnly} AS "isReadOnly" FROM store_state`),
  )) as readonly { readonly isReadOnly: boolean }[];
  if (row?.isReadOnly === false) return;
  // The host name may lead to another server now.
  epoch.current += 1;
  throw unavailable('server is read-only');
}

/** Number of uses recorded by a statement, which takes a few milliseconds. */
const noteBatch = 500;

/** SQL that records uses, and locks rows in the order of their ids: two statements on the same rows never deadlock. */
const noteKeys = `WITH used AS (
      SELECT t.id, u.at FROM unnest(?::text[], ?::bigint[]) u (id, at) JOIN api_keys t ON t.id = u.id
      WHERE t.last_used IS NULL OR t.last_used < u.at
      ORDER BY t.id FOR NO KEY UPDATE OF t)
    UPDATE api_keys t SET last_used = used.at FROM used WHERE t.id = used.id`;

/** Records uses of keys without waiting for other writers. */
async function noteUse(pool: SessionPool, keys: ReadonlyMap<string, number>): Promise<void> {
  const entries = [...keys];
  for (let start = 0; start < entries.length; start += noteBatch) {
    const batch = entries.slice(start, start + noteBatch);
    const ids = batch.map(([id]) => id);
    const instants = batch.map(([, at]) => at);
    await pool.use((session) => retryConflicts(() => session.query(noteKeys, [ids, instants])));
  }
}
