import t from 'tap';
import { sessionTimes, startOfTime } from '../contract/fixtures.ts';
import { newTenant, openRedisStoresUnderTest } from '../contract/redis-stores.ts';
import { requireRedis, startRedis } from '../support/stores/redis-server.ts';

t.test('redis: sessions of the previous version continue, whichever cookie is held', async (t) => {
  if (!requireRedis(t)) return;
  const redis = await startRedis(t);
  const tenant = newTenant();
  let now = startOfTime;
  const { sessions } = await openRedisStoresUnderTest(t, redis.url, { tenant, testClock: () => now });
  const expires = startOfTime + sessionTimes.idleLifetimeMs;
  const keyOf = (id: string) => `postern:${tenant}:session:{${id}}`;

  /** As that version wrote it. */
  async function add(id: string, presented: number | ''): Promise<void> {
    const fields = {
      ...{ userId: 'user-1', method: 'password', address: '192.0.2.1', userAgent: 'test' },
      ...{ created: startOfTime, lastUsed: startOfTime, expires, indexed: expires + 60_000 },
      ...{ generation: 5, issued: startOfTime, presented },
    };
    await redis.command('HSET', keyOf(id), ...Object.entries(fields).flat());
    await redis.command('PEXPIRE', keyOf(id), 600_000);
  }

  async function present(id: string, generation: number): Promise<number | string> {
    const came = await sessions.present(id, generation, sessionTimes);
    return came.outcome === 'current' ? came.session.generation : came.outcome;
  }

  for (const id of ['seen', 'seen too']) await add(id, startOfTime);
  t.match(
    [await sessions.find('seen'), await sessions.findLive('seen')],
    [
      { epoch: 0, provider: null, sealedIdToken: null, sealedClaims: null },
      { epoch: 0, isRestricted: false, origin: null, sealedClaims: null },
    ],
  );
  for (const id of ['unseen', 'lost']) await add(id, '');
  t.equal(await present('seen', 4), 5);
  t.equal(await present('seen too', 5), 5);
  t.equal(await present('unseen', 5), 5);
  now += sessionTimes.reuseGraceMs;
  t.equal(await present('lost', 4), 6);
  t.equal(await present('seen too', 5), 6);
  now += sessionTimes.reuseGraceMs;
  t.equal(await present('lost', 4), 7);
  // A gateway of the previous version: it doesn't record which generation a cookie replaced.
  await redis.command('HSET', keyOf('lost'), 'generation', 8, 'issued', now, 'presented', '');
  t.equal(await present('lost', 7), 8);
  t.equal(await present('seen', 3), 'reused');
});
