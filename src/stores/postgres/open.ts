import { setTimeout as sleep } from 'node:timers/promises';
import { Refusal } from '../../errors.ts';
import type { Records } from '../records.ts';
import { createRememberedRecords, type RemoteEvents } from '../remembered-records.ts';
import { StoreOpenError } from '../store-open-error.ts';
import { changeChannel, parseChange } from './changes.ts';
import { listenForChanges } from './listen.ts';
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
  readonly events: RemoteEvents;
}

/** How long a start waits for a PostgreSQL, and how often it asks whether it is there, ms. */
const patienceMs = 5_000;
const retryDelayMs = 250;

/**
 * Opens records that several gateways may share, making and migrating them as needed. Rejects `store_unavailable`, or
 * {@link StoreOpenError} when they are another tenant's.
 */
export async function openSharedRecords(options: SharedRecordsOptions): Promise<Records> {
  const { access, timeoutMs, tenant, staleIfErrorMs, events } = options;
  const remote = await openPatiently(options);
  await requireSameTenant(remote, tenant);
  const feed = listenForChanges({
    open: () => createPostgresClient(access, timeoutMs),
    channel: changeChannel(access.address.schema),
    parse: parseChange,
  });
  return createRememberedRecords({ remote, feed, staleIfErrorMs, events });
}

/** A server that is just being started, or failing over, is waited for. */
async function openPatiently(options: PostgresRecordsOptions): Promise<PostgresRecords> {
  const deadline = performance.now() + patienceMs;
  for (;;) {
    try {
      return await openPostgresRecords(options);
    } catch (error) {
      const isAway = error instanceof Refusal && error.code === 'store_unavailable';
      if (!isAway || performance.now() > deadline) throw error;
      await sleep(retryDelayMs);
    }
  }
}

/** Two tenants with one address would have the same users and keys: whoever comes second is refused. */
async function requireSameTenant(remote: PostgresRecords, tenant: string): Promise<void> {
  const owner = Buffer.from(await remote.secret('tenant', Buffer.from(tenant))).toString();
  if (owner === tenant) return;
  await remote.close();
  throw new StoreOpenError(
    'stores.records',
    `belongs to tenant ${owner}; name a schema of its own, ?schema=NAME`,
  );
}
