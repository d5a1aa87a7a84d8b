import t from 'tap';
import { startRedisCluster } from '../support/redis-cluster.ts';
import { startRedisSentinels } from '../support/redis-sentinel.ts';
import { requireRedis } from '../support/redis-server.ts';
import { startReplicas } from '../support/replicas.ts';
import { judgeOutage, outageConfig } from '../support/store-outages.ts';

t.setTimeout(90_000);

t.test('the sentinels replace the master', async (t) => {
  if (!requireRedis(t)) return;
  const group = await startRedisSentinels(t);
  const gateways = await startReplicas(t, [group.url, group.url], outageConfig);
  await judgeOutage(t, gateways, () => group.failover());
});

t.test('a cluster loses a master', async (t) => {
  if (!requireRedis(t)) return;
  const cluster = await startRedisCluster(t);
  const gateways = await startReplicas(t, [cluster.url, cluster.url], outageConfig);
  await judgeOutage(t, gateways, async () => {
    await (await cluster.masterOf('login')).kill();
    await cluster.settled();
  });
});
