import { setTimeout as sleep } from 'node:timers/promises';
import type { PoolLoad } from '../../metrics/registry.ts';
import { SealError } from '../record-seals.ts';
import type { Records } from '../records.ts';
import type { AvailabilityEvents } from '../remote/availability.ts';
import { isUnavailable } from '../remote/breaker.ts';
import { type CachedRecordsOptions, createCachedRecords } from '../remote/cached-records.ts';
import type { ChangeFeed, RecordsChange } from '../remote/change-feed.ts';
import { monitorRemote } from '../remote/monitored-remote.ts';
import type { ServerClock } from '../remote/server-clock.ts';
import { StoreOpenError } from '../store-open-error.ts';
import { changeChannel } from './changes.ts';
import { withStoreName } from './failures.ts';
import { ChangeListener } from './listen.ts';
import {
  createPostgresClient,
  openPostgresRecords,
  type PostgresRecords,
  type PostgresRecordsOptions,
} from './records.ts';

export interface SharedRecordsOptions
  extends PostgresRecordsOptions,
    Pick<CachedRecordsOptions, 'staleIfErrorMs'> {
  readonly tenant: string;
  /** Time for which to try again while PostgreSQL is unavailable, ms. */
  readonly openTimeoutMs: number;
  readonly events: AvailabilityEvents;
}

/** Open records that several gateways may share. */
export interface SharedRecords {
  readonly records: Records;
  readonly serverClock: ServerClock;
  /** True if secrets were encrypted at this start: they had not been encrypted, or with another key. */
  readonly isRewritten: boolean;
  poolLoad(): PoolLoad;
}

/** Delay between attempts to open the records, ms. */
const retryDelayMs = 250;

const configurationKey = 'stores.records';

/**
 * Opens records that several gateways may share, and creates and migrates them as needed. Rejects with
 * {@link StoreOpenError} when they are unavailable, can't be used, or belong to another tenant.
 */
export async function openSharedRecords(options: SharedRecordsOptions): Promise<SharedRecords> {
  const { access, timeoutMs, tenant, staleIfErrorMs, events } = options;
  let feed: ChangeFeed | undefined;
  const onChange = (change: RecordsChange | null) => feed?.noteChange(change);
  const { opened, isRewritten, from } = await withStoreName(configurationKey, access.address, () =>
    openWithin(options.openTimeoutMs, async () => {
      const records = await openPostgresRecords({ ...options, onChange });
      try {
        await requireSameTenant(records, tenant);
        const isRewritten = await sealAll(records);
        return { opened: records, isRewritten, from: await records.readPosition() };
      } catch (error) {
        await records.close();
        throw error;
      }
    }),
  );
  const { poolLoad, serverClock, readPosition: _, sealAll: __, ...remote } = opened;
  feed = new ChangeListener({
    open: () => createPostgresClient(access, timeoutMs),
    channel: changeChannel(access.address.schema),
    from,
  });
  const monitored = monitorRemote({ remote, feed, events });
  const records = createCachedRecords({ remote: monitored, feed, staleIfErrorMs });
  return { records, serverClock, poolLoad, isRewritten };
}

/** The result of `open`, which is called again until the timeout while the server is unavailable: starting, or failing over. */
async function openWithin<T>(openTimeoutMs: number, open: () => Promise<T>): Promise<T> {
  const deadline = performance.now() + openTimeoutMs;
  for (;;) {
    try {
      return await open();
    } catch (error) {
      if (!isUnavailable(error) || performance.now() > deadline) throw error;
      await sleep(retryDelayMs);
    }
  }
}

/** Rejects if the store belongs to another tenant: two tenants with one address would have the same users and keys. */
async function requireSameTenant(remote: PostgresRecords, tenant: string): Promise<void> {
  const owner = Buffer.from(await remote.secret('tenant', Buffer.from(tenant))).toString();
  if (owner === tenant) return;
  throw new StoreOpenError(
    configurationKey,
    `belongs to tenant ${owner}; give each tenant its own schema with ?schema=NAME`,
  );
}

async function sealAll(remote: PostgresRecords): Promise<boolean> {
  try {
    return await remote.sealAll();
  } catch (error) {
    throw error instanceof SealError ? new StoreOpenError(configurationKey, error.message, error) : error;
  }
}
