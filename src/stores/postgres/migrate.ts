import { createHash } from 'node:crypto';
import type { Client } from 'pg';
import { describeAddress } from '../../config/values/postgres-address.ts';
import { loadMigrations, type Migration, problemOfVersion } from '../sql/migrations.ts';
import { StoreOpenError } from '../store-open-error.ts';
import { CheckedClient } from './checked-client.ts';
import { createClientConfig, type PostgresAccess } from './client-config.ts';
import { toFailure, unavailable } from './failures.ts';

/** Timeouts of a connection attempt, and of a migration or the wait for that of another replica, ms. */
const connectTimeoutMs = 3_000;
const migrationTimeoutMs = 60_000;

/** The oldest supported server: 13. */
const oldestServer = 130_000;

/** SQLSTATEs of temporary failures. Any other failure would recur on the next attempt. */
const temporary = /^(?:08|25006|40|53|55P03|57)/;

/**
 * Brings a schema to the newest version: each numbered migration and the record of its number are one transaction. Of several
 * replicas the first migrates, and the others wait for it. This needs no privileges when there is nothing to do, and the
 * privilege to create schemas only when the schema doesn't exist.
 *
 * Rejects with {@link StoreOpenError} when the store can't be used: its schema is newer than this program, a privilege or
 * the user is missing, other tables conflict. Rejects `store_unavailable` when the server is unavailable at the moment.
 */
export async function migratePostgres(access: PostgresAccess): Promise<void> {
  await connectAndRequire(access, (client) => bringUpToDate(client, access.address.schema));
}

/** Checks a schema without changing it; rejects as {@link migratePostgres} does, and when it is older than this program. */
export async function requireMigrated(access: PostgresAccess): Promise<void> {
  await connectAndRequire(access, (client) => compareVersion(client, access.address.schema));
}

/** Connects once; rejects with {@link StoreOpenError} when `findMore` gives a reason why the store can't be used. */
async function connectAndRequire(
  access: PostgresAccess,
  findMore: (client: Client) => Promise<string | undefined>,
): Promise<void> {
  const location = describeAddress(access.address);
  const client = new CheckedClient({
    ...createClientConfig(access, migrationTimeoutMs),
    connectionTimeoutMillis: connectTimeoutMs,
  });
  client.on('error', () => {});
  try {
    await client.connect();
    const problem = (await findProblem(client)) ?? (await findMore(client));
    if (problem !== undefined) throw new StoreOpenError(location, problem);
  } catch (error) {
    if (error instanceof StoreOpenError) throw error;
    const failure = toFailure(error);
    if (failure.code === undefined || temporary.test(failure.code)) throw unavailable(failure.message);
    throw new StoreOpenError(location, `can't be opened (${failure.message})`);
  } finally {
    await client.end().catch(() => {});
  }
}

/** The reason why the server itself can't be used; undefined: it can. */
async function findProblem(client: Client): Promise<string | undefined> {
  const { rows } = await client.query(`SELECT current_setting('server_version_num')::integer AS version,
    current_setting('server_encoding') AS encoding`);
  const [{ version, encoding }] = rows;
  if (version < oldestServer)
    return `is on PostgreSQL ${Math.floor(version / 10_000)}; 13 or later is required`;
  if (encoding !== 'UTF8') return `has encoding ${encoding}; UTF8 is required`;
  return undefined;
}

/** Migrates the schema; returns the reason why it still can't be used, because it is newer than this program. */
async function bringUpToDate(client: Client, schema: string): Promise<string | undefined> {
  const migrations = loadAll();
  if ((await versionOf(client, schema)) < migrations.length) {
    // Held until the connection ends.
    await client.query('SELECT pg_advisory_lock($1)', [lockKey(schema)]);
    await createSchema(client, schema);
    for (const { number, sql } of migrations.slice(await versionOf(client, schema)))
      await client.query(`BEGIN; ${sql}; INSERT INTO postern_migrations (number) VALUES (${number}); COMMIT`);
  }
  return compareVersion(client, schema);
}

/** The reason why the schema's version can't be used; undefined: it can. */
async function compareVersion(client: Client, schema: string): Promise<string | undefined> {
  return problemOfVersion(await versionOf(client, schema), loadAll().length);
}

function loadAll(): readonly Migration[] {
  return loadMigrations(new URL('./migrations/records/', import.meta.url));
}

async function versionOf(client: Client, schema: string): Promise<number> {
  const table = `"${schema}".postern_migrations`;
  const { rows } = await client.query('SELECT to_regclass($1) IS NOT NULL AS "exists"', [table]);
  if (!rows[0].exists) return 0;
  const newest = await client.query(`SELECT max(number) AS number FROM ${table}`);
  return newest.rows[0].number ?? 0;
}

/** Creates the schema if it is missing: even with IF NOT EXISTS, the statement alone would require the privilege. */
async function createSchema(client: Client, schema: string): Promise<void> {
  const { rows } = await client.query('SELECT 1 FROM pg_namespace WHERE nspname = $1', [schema]);
  if (rows.length === 0) await client.query(`CREATE SCHEMA IF NOT EXISTS "${schema}"`);
}

/** The number of the lock for migrations of a schema: locks are shared by a whole database. */
function lockKey(schema: string): string {
  return createHash('sha256').update(`postern migrations ${schema}`).digest().readBigInt64BE().toString();
}
