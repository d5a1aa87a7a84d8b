import t from 'tap';
import { runRedisStoresSuite } from '../contract/redis-stores-suite.ts';
import { startRedisCluster } from '../support/stores/redis-cluster.ts';
import { startRedisSentinels } from '../support/stores/redis-sentinel.ts';
import { requireRedis, startRedis } from '../support/stores/redis-server.ts';

if (requireRedis(t)) {
  const server = await startRedis(t);
  runRedisStoresSuite({
    name: 'redis',
    url: server.url,
    everywhere: async (...command) => [await server.command(...command)],
  });

  const sentinels = await startRedisSentinels(t);
  runRedisStoresSuite({
    name: 'sentinel',
    url: sentinels.url,
    everywhere: async (...command) => [await (await sentinels.master()).command(...command)],
  });

  const cluster = await startRedisCluster(t);
  runRedisStoresSuite({
    name: 'cluster',
    url: cluster.url,
    // A replica redirects reads, and holds no data of its own.
    everywhere: (...command) =>
      Promise.all(cluster.nodes.map((node) => node.command(...command).catch(() => null))),
  });
}
