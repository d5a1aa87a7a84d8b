import t, { type Test } from 'tap';
import { requirePostgres } from './postgres-programs.ts';
import { type PostgresServer, startPostgres } from './postgres-server.ts';
import { requireRedis, startRedis } from './redis-server.ts';
import type { StoresConfig } from './stores-config.ts';

let schemas = 0;

/**
 * Runs a test on SQLite, and on PostgreSQL with Redis if they are installed. `run` gets empty stores for its gateway.
 */
export function testOnEveryStore(name: string, run: (t: Test, stores: StoresConfig) => Promise<void>): void {
  t.test(`${name}, on SQLite`, (t) => run(t, {}));
  testOnServers(name, run);
}

/** The same on PostgreSQL with Redis alone, for a test that another tier runs on SQLite. */
export function testOnServers(name: string, run: (t: Test, stores: StoresConfig) => Promise<void>): void {
  t.test(`${name}, on PostgreSQL with Redis`, async (t) => {
    if (!requirePostgres(t) || !requireRedis(t)) return;
    const [postgres, redis] = [await sharedPostgres(), await startRedis(t)];
    schemas += 1;
    const records = `${postgres.url}?schema=every_store_${process.pid}_${schemas}`;
    await run(t, { stores: { records, sessions: redis.url } });
  });
}

let postgres: Promise<PostgresServer> | undefined;

/** Starting one takes seconds: all tests of a file share it. */
function sharedPostgres(): Promise<PostgresServer> {
  postgres ??= startPostgres(t);
  return postgres;
}
