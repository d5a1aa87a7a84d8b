import type { Test } from 'tap';
import type { HintedChange } from '../../src/stores/postgres/changes.ts';
import { changeChannel, parseNotification } from '../../src/stores/postgres/changes.ts';
import type { PostgresAccess } from '../../src/stores/postgres/client-config.ts';
import {
  createPostgresClient,
  openPostgresRecords,
  type PostgresRecords,
  type PostgresRecordsOptions,
} from '../../src/stores/postgres/records.ts';
import type { Records } from '../../src/stores/records.ts';
import type { ScopeSet } from '../../src/stores/scope-set.ts';
import { eventually } from '../support/eventually.ts';
import type { PostgresServer } from '../support/stores/postgres-server.ts';
import { postgresAddress } from '../support/stores/store-addresses.ts';
import { startOfTime } from './fixtures.ts';
import type { RecordsUnderTest } from './records-suite.ts';
import { createManualClock } from './sqlite-stores.ts';

let schemas = 0;

/** The tests are about what the store does, not how soon: a busy machine may stall for longer than the default of 1.5 s. */
export const recordsLimits = { maxConnections: 8, timeoutMs: 10_000 };

/** Access to a schema of its own, so that tests share a server and nothing on it. */
export function accessToNewSchema(server: Pick<PostgresServer, 'url'>): PostgresAccess {
  schemas += 1;
  return accessTo(server, `test_${process.pid}_${schemas}`);
}

/** Access to that schema. */
export function accessTo({ url }: Pick<PostgresServer, 'url'>, schema: string): PostgresAccess {
  return { address: postgresAddress(`${url}?schema=${schema}`) };
}

/** Opens the store; closed by the test's teardown. */
export async function openPostgresUnderTest(
  t: Test,
  access: PostgresAccess,
  options: Partial<PostgresRecordsOptions> = {},
): Promise<PostgresRecords> {
  const store = await openPostgresRecords({ access, now: () => startOfTime, ...recordsLimits, ...options });
  t.teardown(() => store.close());
  return store;
}

/** The store in a new schema. */
export async function createPostgresRecordsUnderTest(
  t: Test,
  server: PostgresServer,
): Promise<RecordsUnderTest> {
  const access = accessToNewSchema(server);
  const { now, advance } = createManualClock();
  const seen = { version: 0 };
  const open = async () => withVersion(await openPostgresUnderTest(t, access, { now }), seen);
  async function addScopeSet(set: ScopeSet): Promise<void> {
    const values = [set.id, set.name, set.description, JSON.stringify(set.scopes), set.created, set.updated];
    await server.query(
      `INSERT INTO ${access.address.schema}.scope_sets (id, name, description, scopes, created, updated)
        VALUES ($1, $2, $3, $4, $5, $6)`,
      values,
    );
  }
  async function addEarlierCookieSecret(secret: Uint8Array): Promise<void> {
    await server.query(`INSERT INTO ${access.address.schema}.secrets (name, value) VALUES ('cookie', $1)`, [
      secret,
    ]);
  }
  return { store: await open(), openSecond: open, advance, addScopeSet, addEarlierCookieSecret };
}

/** The store with the version that the database had after the last call to any store that shares `seen`. */
function withVersion(store: PostgresRecords, seen: { version: number }): Records {
  const withVersionNoted =
    (method: (...values: unknown[]) => unknown) =>
    async (...values: unknown[]) => {
      const result = await method(...values);
      seen.version = (await store.readPosition()).version;
      return result;
    };
  const { readPosition: _, close, ...methods } = store;
  const wrapped = Object.entries(methods).map(([name, method]) => [
    name,
    withVersionNoted(method as () => unknown),
  ]);
  return { ...(Object.fromEntries(wrapped) as typeof methods), close, version: () => seen.version };
}

/** The notified changes in that schema from now on. */
export interface RecordedNotifications {
  readonly changes: readonly HintedChange[];
  /** Resolves once that version has been notified. */
  until(version: number): Promise<void>;
}

/** Listens until the test's end. */
export async function recordNotifications(t: Test, access: PostgresAccess): Promise<RecordedNotifications> {
  const changes: HintedChange[] = [];
  const client = createPostgresClient(access, recordsLimits.timeoutMs);
  t.teardown(() => client.end());
  client.on('notification', ({ payload }) => {
    changes.push(parseNotification(payload ?? '')!);
  });
  await client.connect();
  await client.query(`LISTEN "${changeChannel(access.address.schema)}"`);
  return {
    changes,
    async until(version) {
      await eventually(`version ${version}`, () => changes.at(-1)?.version === version);
    },
  };
}
