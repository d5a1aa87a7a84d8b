import t, { type Test } from 'tap';
import { createPostgresRecords } from '../../src/stores/postgres/records.ts';
import type { ServerClock } from '../../src/stores/remote/server-clock.ts';
import { newTenant, openRedisStoresUnderTest } from '../contract/redis-stores.ts';
import { requirePostgres } from '../support/stores/postgres-programs.ts';
import { startPostgres } from '../support/stores/postgres-server.ts';
import { startRedisCluster } from '../support/stores/redis-cluster.ts';
import { requireRedis, startRedis } from '../support/stores/redis-server.ts';
import { postgresAddress } from '../support/stores/store-addresses.ts';

/** Compares it with this machine's clock, which is the server's too, set ahead and back. */
async function assertCompared(t: Test, { compare }: ServerClock, servers = 1): Promise<void> {
  for (const skewMs of [0, 5_000, -3_600_000]) {
    const readings = await compare(() => Date.now() + skewMs);
    t.equal(readings.length, servers);
    // Two milliseconds for clocks that are read as whole ones.
    for (const { aheadMs, uncertaintyMs } of readings)
      t.ok(Math.abs(aheadMs - skewMs) <= uncertaintyMs + 2, `${skewMs}: ${aheadMs} ± ${uncertaintyMs}`);
  }
}

t.test('the clock of a Redis is compared, and that of each master of a Cluster', async (t) => {
  if (!requireRedis(t)) return;
  const server = await startRedis(t);
  const open = (url: string) => openRedisStoresUnderTest(t, url, { tenant: newTenant() });
  const single = await open(server.url);
  await assertCompared(t, single.serverClock);
  const cluster = await startRedisCluster(t);
  const stores = await open(cluster.url);
  // A connection to each node is opened by what needs it.
  for (let id = 0; id < 100; id += 1) await stores.sessions.find(`${id}`);
  await assertCompared(t, stores.serverClock, 3);
  await server.kill();
  await t.rejects(single.serverClock.compare(Date.now), { code: 'store_unavailable' });
});

t.test('the clock of a PostgreSQL is compared', async (t) => {
  if (!requirePostgres(t)) return;
  const server = await startPostgres(t);
  const records = createPostgresRecords({
    access: { address: postgresAddress(server.url) },
    now: Date.now,
    maxConnections: 2,
    timeoutMs: 10_000,
  });
  t.teardown(() => records.close());
  await assertCompared(t, records.serverClock);
  await server.kill();
  await t.rejects(records.serverClock.compare(Date.now), { code: 'store_unavailable' });
});
