import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Cluster, Redis } from 'ioredis';
import t from 'tap';
import { requireProgram } from '../support/programs.ts';
import { makeCertificate } from '../support/servers/certificates.ts';
import { startRedisCluster } from '../support/stores/redis-cluster.ts';
import { startRedisSentinels } from '../support/stores/redis-sentinel.ts';
import { type RedisServer, requireRedis, startRedis } from '../support/stores/redis-server.ts';

t.test('a server is killed, stopped, paused and started again', async (t) => {
  if (!requireRedis(t)) return;
  const redis = await startRedis(t, { config: ['appendonly yes', 'appendfsync always'] });
  const { port, pid } = redis;
  await redis.command('SET', 'a', 'kept');
  await redis.kill();
  t.equal(redis.pid, null);
  await t.rejects(redis.command('PING'));
  await redis.restart();
  t.not(redis.pid, pid);
  t.equal(redis.port, port);
  t.equal(await redis.command('GET', 'a'), 'kept', 'its data is as it was');

  const client = new Redis(redis.url, { lazyConnect: true, commandTimeout: 100 });
  client.on('error', () => {});
  t.teardown(() => client.disconnect());
  await client.connect();
  redis.pause();
  await t.rejects(client.set('a', 'late'), /timed out/);
  redis.resume();
  t.equal(await client.get('a'), 'late', 'it continues with what arrived while it was paused');
  redis.pause();
  await redis.stop();
  t.equal(redis.pid, null, 'a pause does not prevent it');
  await redis.restart();
  redis.pause();
});

t.test('a server has users, limits and a Unix socket', async (t) => {
  if (!requireRedis(t)) return;
  const redis = await startRedis(t, {
    config: ['maxmemory 1', 'maxmemory-policy noeviction'],
    users: ['default off', 'gateway on >secret ~postern:* +@all'],
  });
  const stranger = new Redis(redis.url, { lazyConnect: true, retryStrategy: () => null });
  const client = new Redis(redis.socket, { username: 'gateway', password: 'secret' });
  t.teardown(() => {
    stranger.disconnect();
    client.disconnect();
  });
  stranger.on('error', () => {});
  await t.rejects(stranger.get('postern:a'));
  t.equal(await client.get('postern:a'), null);
  await t.rejects(client.get('other'), /NOPERM/);
  await t.rejects(client.set('postern:a', 1), /OOM/);
  await t.rejects(redis.command('SET', 'a', 1), /^OOM/);
});

t.test('a server speaks TLS', async (t) => {
  if (!requireRedis(t) || !requireProgram(t, 'openssl')) return;
  const folder = mkdtempSync(join(tmpdir(), 'postern-redis-'));
  t.teardown(() => rmSync(folder, { recursive: true }));
  const tls = makeCertificate(folder, 'redis', ['IP:127.0.0.1']);
  const redis = await startRedis(t, { tls });
  t.equal(redis.url, `rediss://127.0.0.1:${redis.port}`);
  const client = new Redis(redis.url, { tls: { ca: tls.cert } });
  t.teardown(() => client.disconnect());
  t.equal(await client.set('a', 1), 'OK');
  t.equal(await redis.command('GET', 'a'), '1');
});

t.test('sentinels replace a master, again and again', async (t) => {
  if (!requireRedis(t)) return;
  const group = await startRedisSentinels(t);
  const [first, second] = group.nodes;
  t.equal(await group.master(), first);
  const client = new Redis({
    sentinels: group.sentinels.map(({ port }) => ({ host: '127.0.0.1', port })),
    name: 'mymaster',
  });
  client.on('error', () => {});
  t.teardown(() => client.disconnect());
  await client.set('a', 1);
  await client.wait(1, 1_000);
  t.equal(await group.failover(), second);
  t.equal(first!.pid, null);
  t.equal(await client.get('a'), '1');
  t.equal(await client.set('a', 2), 'OK');

  await first!.restart();
  await group.settled();
  t.equal(await group.failover('pause'), first);
  t.equal(await first!.command('GET', 'a'), '2');
  second!.resume();
  await group.settled();
  t.equal(((await second!.command('ROLE')) as string[])[0], 'slave', 'the paused one becomes its replica');
});

/** The ports of the nodes that hold slots, according to that node. */
async function portsBy(node: RedisServer): Promise<Set<number>> {
  const ranges = (await node.command('CLUSTER', 'SLOTS')) as [number, number, ...[string, number][]][];
  return new Set(ranges.flatMap(([, , ...holders]) => holders.map(([, port]) => port)));
}

t.test('a cluster survives the loss of a master', async (t) => {
  if (!requireRedis(t)) return;
  const cluster = await startRedisCluster(t);
  for (const node of cluster.nodes) t.equal((await portsBy(node)).size, 6, 'every node sees every other');
  const client = new Cluster(cluster.nodes.map(({ port }) => ({ host: '127.0.0.1', port })));
  client.on('error', () => {});
  t.teardown(() => client.disconnect());
  for (const key of ['a', 'b', 'c', 'd']) await client.set(key, key);
  const owners = new Set(await Promise.all(['a', 'b', 'c', 'd'].map((key) => cluster.masterOf(key))));
  t.equal(owners.size, 3);
  const lost = await cluster.masterOf('a');
  await lost.kill();
  await cluster.settled();
  t.not(await cluster.masterOf('a'), lost);
  for (const node of cluster.nodes)
    if (node !== lost) t.notOk((await portsBy(node)).has(lost.port), 'every node considers it failed');
  t.equal(await client.set('a', 2), 'OK');
  await lost.restart();
  await cluster.settled();
  t.equal(((await lost.command('ROLE')) as string[])[0], 'slave');
});
