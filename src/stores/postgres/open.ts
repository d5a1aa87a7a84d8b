import { setTimeout as sleep } from 'node:timers/promises';
import type { PoolLoad } from '../../metrics/pool-load.ts';
import { isUnavailable } from '../breaker.ts';
import { createCachedRecords } from '../cached-records.ts';
import { monitorRemote, type RemoteEvents } from '../monitored-remote.ts';
import type { Records } from '../records.ts';
import { StoreOpenError } from '../store-open-error.ts';
import { changeChannel } from './changes.ts';
import { listenForChanges } from './listen.ts';
import { namingStore } from './open-failure.ts';
import {
  createPostgresClient,
  openPostgresRecords,
  type PostgresRecords,
  type PostgresRecordsOptions,
} from './records.ts';

export interface SharedRecordsOptions extends PostgresRecordsOptions {
  readonly tenant: string;
  /** How long what was seen counts while PostgreSQL is away, ms. */
  readonly staleIfErrorMs: number;
  /** How long a PostgreSQL that can't be reached is waited for, ms. */
  readonly openTimeoutMs: number;
  readonly events: RemoteEvents;
}

/** Records that several gateways may share, open. */
export interface SharedRecords {
  readonly records: Records;
  poolLoad(): PoolLoad;
}

/** How often a start asks whether the PostgreSQL is there, ms. */
const retryDelayMs = 250;

const configurationKey = 'stores.records';

/**
 * Opens records that several gateways may share, making and migrating them as needed. Rejects with {@link StoreOpenError}
 * when they can't be had, or are another tenant's.
 */
export async function openSharedRecords(options: SharedRecordsOptions): Promise<SharedRecords> {
  const { access, timeoutMs, tenant, staleIfErrorMs, events } = options;
  const { opened, from } = await namingStore(configurationKey, access.address, () =>
    withTimeout(options.openTimeoutMs, async () => {
      const records = await openPostgresRecords(options);
      const prepare = async () => {
        await requireSameTenant(records, tenant);
        return { opened: records, from: await records.readLocation() };
      };
      return prepare().catch((error) => closeAfter(error, records));
    }),
  );
  const { poolLoad, readLocation: _, ...remote } = opened;
  const feed = listenForChanges({
    open: () => createPostgresClient(access, timeoutMs),
    channel: changeChannel(access.address.schema),
    from,
  });
  const announced = monitorRemote({ remote, feed, events });
  return { records: createCachedRecords({ remote: announced, feed, staleIfErrorMs }), poolLoad };
}

/** A server that is just being started, or failing over, is waited for. */
async function withTimeout<T>(openTimeoutMs: number, open: () => Promise<T>): Promise<T> {
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

/** Two tenants with one address would have the same users and keys: whoever comes second is refused. */
async function requireSameTenant(remote: PostgresRecords, tenant: string): Promise<void> {
  const owner = Buffer.from(await remote.secret('tenant', Buffer.from(tenant))).toString();
  if (owner === tenant) return;
  throw new StoreOpenError(
    configurationKey,
    `belongs to tenant ${owner}; name a schema of its own, ?schema=NAME`,
  );
}

async function closeAfter(error: unknown, remote: PostgresRecords): Promise<never> {
  await remote.close();
  throw error;
}
