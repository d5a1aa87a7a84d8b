import type { LookupFunction } from 'node:net';
import t, { type Test } from 'tap';
import { openPostgresRecords } from '../../src/stores/postgres/records.ts';
import { startOfTime } from '../contract/fixtures.ts';
import { accessToNewSchema, openPostgresUnderTest, recordsLimits } from '../contract/postgres-stores.ts';
import { accessTo, newTenant, openRedisStoresUnderTest } from '../contract/redis-stores.ts';
import { requirePostgres } from '../support/stores/postgres-programs.ts';
import { startPostgres } from '../support/stores/postgres-server.ts';
import { startRedisCluster } from '../support/stores/redis-cluster.ts';
import { startRedisSentinels } from '../support/stores/redis-sentinel.ts';
import { requireRedis, startRedis } from '../support/stores/redis-server.ts';
import { postgresAddress } from '../support/stores/store-addresses.ts';

/** Finds names in `.test` on this machine, and no others; and which names it was asked for. */
function createLookup() {
  const asked = new Set<string>();
  const lookup: LookupFunction = (host, { all }, callback) => {
    asked.add(host);
    if (!host.endsWith('.test')) callback(Object.assign(new Error(`no ${host}`), { code: 'EAI_AGAIN' }), []);
    else if (all === true) callback(null, [{ address: '127.0.0.1', family: 4 }]);
    else callback(null, '127.0.0.1', 4);
  };
  return { lookup, asked };
}

async function connectsTo(t: Test, url: string): Promise<string[]> {
  const { lookup, asked } = createLookup();
  const { sessions } = await openRedisStoresUnderTest(t, url, {
    tenant: newTenant(),
    access: { ...accessTo(url), lookup },
  });
  await sessions.ping();
  return [...asked].toSorted();
}

t.test('a Redis is found by the lookup that all share', async (t) => {
  if (!requireRedis(t)) return;
  const { port } = await startRedis(t);
  t.strictSame(await connectsTo(t, `redis://redis.test:${port}`), ['redis.test']);
});

t.test('so are Sentinels, and the master they name', async (t) => {
  if (!requireRedis(t)) return;
  const { url } = await startRedisSentinels(t);
  let i = 0;
  const named = url.replaceAll('127.0.0.1', () => `s${++i}.test`);
  const asked = await connectsTo(t, named);
  t.ok(asked.length > 0);
  t.strictSame(
    asked.filter((name) => !/^s[0-9].test$/.test(name)),
    [],
    'the master has an address here',
  );
});

t.test('so are the nodes of a Cluster', async (t) => {
  if (!requireRedis(t)) return;
  const { url } = await startRedisCluster(t);
  let i = 0;
  const named = url.replaceAll('127.0.0.1', () => `n${++i}.test`);
  const asked = await connectsTo(t, named);
  t.ok(asked.length > 0);
  t.strictSame(
    asked.filter((name) => !/^n[0-9].test$/.test(name)),
    [],
    'the nodes name each other by address here',
  );
});

t.test('a PostgreSQL is found by it, and why not is said', async (t) => {
  if (!requirePostgres(t)) return;
  const server = await startPostgres(t);
  const { address } = accessToNewSchema(server);
  const { lookup, asked } = createLookup();
  const store = await openPostgresUnderTest(t, { address: { ...address, host: 'records.test' }, lookup });
  await store.ping();
  t.strictSame([...asked], ['records.test']);
  const silent = postgresAddress(server.url.replace('127.0.0.1', 'silent'));
  await t.rejects(
    openPostgresRecords({ access: { address: silent, lookup }, now: () => startOfTime, ...recordsLimits }),
    { code: 'store_unavailable', cause: { message: /no silent/ } },
  );
});
