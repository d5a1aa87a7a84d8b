import { setTimeout as sleep } from 'node:timers/promises';
import t from 'tap';
import type { RedisStores } from '../../src/stores/redis/open.ts';
import { newTenant, openRedisStoresUnderTest } from '../contract/redis-stores.ts';
import { eventually } from '../support/eventually.ts';
import { isLong } from '../support/gateway/gateway-under-load.ts';
import { startScriptedRedis } from '../support/stores/scripted-redis.ts';
import { wrongRedisReplies } from '../support/stores/wrong-redis-replies.ts';

const timeout = isLong ? 3_000_000 : 600_000;
t.setTimeout(timeout);

const everywhere = 'auth select client info time subscribe ping evalsha eval zrange'.split(' ');
const remembered = ['hmget', 'exists', 'hgetall'];

/** The commands that are sent, by the scheme of the address. */
const commandsOf: Readonly<Record<string, readonly string[]>> = {
  redis: [...everywhere, ...remembered],
  'redis+sentinel': [
    ...everywhere.filter((name) => name !== 'select'),
    'sentinel get-master-addr-by-name',
    'sentinel sentinels',
  ],
  'redis+cluster': [...everywhere.filter((name) => name !== 'select'), ...remembered, 'cluster slots'],
};

/** Uses everything in the stores, whatever the outcome. */
async function useAll({ sessions, attempts, singleUse }: RedisStores): Promise<void> {
  const id = crypto.randomUUID();
  const times = { idleLifetimeMs: 10_000, absoluteLifetimeMs: 10_000, reuseGraceMs: 1_000 };
  const made = { id, userId: 'user', method: 'password', scope: null, address: '', userAgent: '', epoch: 0 };
  await Promise.allSettled([
    sessions.create(made, times).then(() => sessions.findLive(id)),
    (async () => sessions.findLive(crypto.randomUUID()))(),
    sessions.present(id, 1, times),
    sessions.noteUse(new Map([[id, Date.now()]]), times),
    sessions.revokeAllOf('user'),
    (async () => sessions.idsOfProvider({ issuer: 'i', sid: 's' }))(),
    (async () => sessions.find(id))(),
    attempts.count([{ key: 'a', points: 1_000_000 }], 1_000),
    singleUse.consume(id, Date.now() + 1_000),
    sessions.ping(),
  ]);
}

let next = 0;
for (const [scheme, commands] of Object.entries(commandsOf))
  t.test(`${scheme}: no reply to any command ends the process`, { timeout }, async (t) => {
    const redis = await startScriptedRedis(t);
    const end = { redis: '/1', 'redis+sentinel': '/master', 'redis+cluster': '' }[scheme];
    const address = `${scheme}://user:password@127.0.0.1:${redis.port}${end}`;
    const stores = await openRedisStoresUnderTest(t, address, {
      tenant: newTenant(),
      livenessAgeMs: 500,
      commandTimeoutMs: 200,
    });
    const names = Object.keys(wrongRedisReplies);
    // A nil each time, and the others in turn; in the long run all of them.
    for (const command of commands)
      for (const name of isLong ? names : ['a nil', names[next++ % names.length]!]) {
        redis.respondWrongly({ command, bytes: wrongRedisReplies[name]! });
        redis.cut();
        await eventually(
          `${command} is sent`,
          async () => {
            await useAll(stores);
            return redis.struck > 0;
          },
          20_000,
        );
        await useAll(stores);
        redis.respondWrongly(null);
        const since = performance.now();
        await eventually(
          `it is available again after ${name} to ${command}`,
          () => stores.sessions.ping().then(() => true),
          10_000,
        );
        t.pass(`${name} to ${command}, available again after ${Math.round(performance.now() - since)} ms`);
        await sleep(0);
      }
  });
