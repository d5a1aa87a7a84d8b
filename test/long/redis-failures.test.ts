import { rmSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import t from 'tap';
import { isLong } from '../support/gateway/gateway-under-load.ts';
import { startReplicas } from '../support/gateway/replicas.ts';
import { type RedisServer, requireRedis, startRedis } from '../support/stores/redis-server.ts';
import { judgeLoss, judgeOutage, outageConfig, staleIfErrorMs } from '../support/stores/store-outages.ts';

const outageMs = isLong ? 30_000 : 1_200;
const shortOutageMs = isLong ? 5_000 : 700;
const timeout = isLong ? 300_000 : 90_000;
t.setTimeout(timeout);

t.test('a single Redis', { timeout }, async (t) => {
  if (!requireRedis(t)) return;
  const redis = await startRedis(t, { config: ['appendonly yes', 'appendfsync always'] });
  const gateways = await startReplicas(t, [redis.url, redis.url], outageConfig);
  await t.test(`it stalls for ${outageMs} ms`, (t) => {
    const standStill = async () => {
      redis.pause();
      await sleep(outageMs);
      redis.resume();
    };
    return judgeOutage(t, gateways, standStill, { outlastsStale: outageMs > staleIfErrorMs });
  });
  await t.test('it is killed and started again', (t) =>
    judgeOutage(t, gateways, async () => {
      await redis.kill();
      await sleep(shortOutageMs);
      await redis.restart();
    }),
  );
  await t.test('its memory is full', (t) =>
    judgeOutage(t, gateways, async () => {
      await redis.command('CONFIG', 'SET', 'maxmemory', 1);
      await sleep(shortOutageMs);
      await redis.command('CONFIG', 'SET', 'maxmemory', 0);
    }),
  );
  await t.test('all is deleted', (t) => judgeLoss(t, gateways, () => redis.command('FLUSHALL')));
  await t.test('it is killed and comes back empty', (t) =>
    judgeLoss(t, gateways, async () => {
      await redis.kill();
      removeData(redis);
      await redis.restart();
    }),
  );
});

function removeData({ folder }: RedisServer): void {
  // Of Redis 7 and later, and before.
  for (const name of ['appendonlydir', 'appendonly.aof'])
    rmSync(join(folder, name), { recursive: true, force: true });
}
