import { createHash } from 'node:crypto';
import type { Client } from 'pg';
import { describeAddress } from '../../config/postgres-address.ts';
import { loadMigrations, type Migration } from '../sql/migrations.ts';
import { StoreOpenError } from '../store-open-error.ts';
import { CheckedClient } from './checked-client.ts';
import { createClientConfig, type PostgresAccess } from './client-config.ts';
import { toFailure, unavailable } from './failures.ts';

/** How long a connection may take, and how long one migration or the wait for another replica's, ms. */
const connectTimeoutMs = 3_000;
const migrationTimeoutMs = 60_000;

/** The oldest server that has all we use: 13. */
const oldestServer = 130_000;

/** SQLSTATEs by which a server says that it can't now. What else it says will be the same the next time. */
const passing = /^(?:08|25006|40|53|55P03|57)/;

/**
 * Brings a schema to the newest version, each numbered step in one transaction with the number it leads to. Of several
 * replicas the first does it, and the others wait for it. Where there is nothing to do it needs no right to do it, and the
 * right to make schemas only where there is none of that name.
 *
 * Rejects with {@link StoreOpenError} when the store can't be used: its schema is newer than this program, a right or the
 * user is missing, other tables are in the way. Rejects `store_unavailable` when the server can't be reached now.
 */
export async function migratePostgres(access: PostgresAccess): Promise<void> {
  await requireOf(access, (client) => bringUpToDate(client, access.address.schema));
}

/** Changes nothing, and rejects as {@link migratePostgres} does, also when the schema is older than this program. */
export async function requireMigrated(access: PostgresAccess): Promise<void> {
  await requireOf(access, (client) => compareVersion(client, access.address.schema));
}

/** Connects once; rejects with {@link StoreOpenError} when `findMore` gives a reason why the store can't be used. */
async function requireOf(
  access: PostgresAccess,
  findMore: (client: Client) => Promise<string | undefined>,
): Promise<void> {
  const location = describeAddress(access.address);
  const client = new CheckedClient({
    ...createClientConfig(access, { timeoutMs: migrationTimeoutMs }),
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
    if (failure.code === undefined || passing.test(failure.code)) throw unavailable(failure.message);
    throw new StoreOpenError(location, `can't be opened (${failure.message})`);
  } finally {
    await client.end().catch(() => {});
  }
}

/** What speaks against the server itself. */
async function findProblem(client: Client): Promise<string | undefined> {
  const { rows } = await client.query(`SELECT current_setting('server_version_num')::integer AS version,
    current_setting('server_encoding') AS encoding`);
  const [{ version, encoding }] = rows;
  if (version < oldestServer) return `is on PostgreSQL ${Math.floor(version / 10_000)}, older than 13`;
  if (encoding !== 'UTF8') return `has the encoding ${encoding}, which must be UTF8`;
  return undefined;
}

/** Migrates; gives the reason why it can't. */
async function bringUpToDate(client: Client, schema: string): Promise<string | undefined> {
  const migrations = loadAll();
  if ((await versionOf(client, schema)) < migrations.length) {
    // Held until the connection ends.
    await client.query('SELECT pg_advisory_lock($1)', [lockKey(schema)]);
    await makeSchema(client, schema);
    const found = await versionOf(client, schema);
    for (const migration of migrations.slice(found)) await apply(client, migration);
  }
  return compareVersion(client, schema);
}

/** What speaks against the version of the schema. */
async function compareVersion(client: Client, schema: string): Promise<string | undefined> {
  const newest = loadAll().length;
  const version = await versionOf(client, schema);
  if (version > newest) return `has schema version ${version}, newer than ${newest} which this program knows`;
  if (version < newest) return `has schema version ${version}, older than ${newest} of this program`;
  return undefined;
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

/** Even with IF NOT EXISTS it would take the right to make one. */
async function makeSchema(client: Client, schema: string): Promise<void> {
  const { rows } = await client.query('SELECT 1 FROM pg_namespace WHERE nspname = $1', [schema]);
  if (rows.length === 0) await client.query(`CREATE SCHEMA IF NOT EXISTS "${schema}"`);
}

async function apply(client: Client, { number, sql }: Migration): Promise<void> {
  await client.query(`BEGIN; ${sql}; INSERT INTO postern_migrations (number) VALUES (${number}); COMMIT`);
}

/** Locks are numbers, and of a whole database: the schema's name makes ours. */
function lockKey(schema: string): string {
  return createHash('sha256').update(`postern migrations ${schema}`).digest().readBigInt64BE().toString();
}
