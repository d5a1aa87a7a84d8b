import t from 'tap';
import { startReplicas } from '../support/gateway/replicas.ts';
import { startRedisCluster } from '../support/stores/redis-cluster.ts';
import { startRedisSentinels } from '../support/stores/redis-sentinel.ts';
import { requireRedis } from '../support/stores/redis-server.ts';
import { judgeOutage, outageConfig } from '../support/stores/store-outages.ts';

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
