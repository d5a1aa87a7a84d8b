import { setTimeout as sleep } from 'node:timers/promises';
import t, { type Test } from 'tap';
import { Refusal } from '../../src/errors.ts';
import type { Sessions } from '../../src/stores/sessions.ts';
import { newSession, sessionTimes } from '../contract/fixtures.ts';
import { openRedisStoresUnderTest } from '../contract/redis-stores.ts';
import { eventually } from '../support/eventually.ts';
import { isLong } from '../support/gateway/gateway-under-load.ts';
import { leeway } from '../support/gateway/replicas.ts';
import {
  commandsOf,
  commandTimeoutMs,
  delayMs,
  faults,
  isOfOperation,
  stored,
} from '../support/stores/redis-operations.ts';
import { type RedisRelay, startRedisRelay } from '../support/stores/redis-relay.ts';
import { type RedisServer, requireRedis, startRedis } from '../support/stores/redis-server.ts';

const timeout = 600_000;
t.setTimeout(timeout);

const tenant = 'acme';
const user = 'user-1';
const ids = ['one', 'two', 'three'];

/** A store behind a relay, and one that reaches the same Redis directly. */
interface Stage {
  readonly redis: RedisServer;
  readonly relay: RedisRelay;
  readonly sessions: Sessions;
  readonly straight: Sessions;
}

async function startStage(t: Test): Promise<Stage> {
  const redis = await startRedis(t);
  const relay = await startRedisRelay(t, redis);
  const { sessions } = await openRedisStoresUnderTest(t, relay.url, { tenant, commandTimeoutMs });
  const { sessions: straight } = await openRedisStoresUnderTest(t, redis.url, { tenant });
  return { redis, relay, sessions, straight };
}

async function prepare({ redis, straight }: Stage): Promise<void> {
  await redis.command('FLUSHALL');
  for (const id of ids) await straight.create({ ...newSession(id), userId: user }, sessionTimes);
  await straight.create({ ...newSession('other'), userId: 'user-2' }, sessionTimes);
}

t.test('ending all sessions of a user, whichever command fails', { timeout }, async (t) => {
  if (!requireRedis(t)) return;
  const stage = await startStage(t);
  await prepare(stage);
  const commands = await commandsOf(stage.relay, () => stage.sessions.revokeAllOf(user));
  t.strictSame(commands.filter((name) => name !== 'eval' && name !== 'zrem').slice(0, 2), [
    'zrange',
    'evalsha',
  ]);
  await prepare(stage);
  const warm = await commandsOf(stage.relay, () => stage.sessions.revokeAllOf(user));
  const names = Object.keys(faults);
  let next = 0;
  for (const [index, command] of warm.entries())
    for (const fault of isLong ? names : [names[next++ % names.length]!, names[next++ % names.length]!])
      await t.test(`command ${index + 1} (${command}) ${fault}`, (t) => judge(t, stage, index + 1, fault));
  t.comment(`${warm.length} commands: ${warm.join(', ')}`);
});

/** Without the index, from which ended sessions may disappear at any time. */
async function sessionsStored(redis: RedisServer): Promise<object> {
  const entries = Object.entries(await stored(redis));
  return Object.fromEntries(entries.filter(([key]) => key.includes(':session:')));
}

async function judge(t: Test, stage: Stage, at: number, fault: string): Promise<void> {
  const { redis, relay, sessions, straight } = stage;
  await prepare(stage);
  // What the case before left to the background may have made the store unavailable only afterwards.
  await sleep(30);
  await eventually('it is available', () =>
    sessions.ping().then(
      () => true,
      () => false,
    ),
  );
  const armed = relay.arm({ fault: faults[fault]!, at, commands: isOfOperation });
  const failure = await sessions.revokeAllOf(user).then(
    (ended) => void t.strictSame([...ended].sort(), [...ids].sort()),
    (error: unknown) => error,
  );
  await armed.hasStruck;
  if (failure !== undefined) {
    t.ok(failure instanceof Refusal && failure.code === 'store_unavailable', String(failure));
    const before = await sessionsStored(redis);
    if (fault === 'arrives late') await sleep(delayMs + 50 - commandTimeoutMs);
    t.strictSame(await sessionsStored(redis), before, 'nothing is executed later');
  }
  await relay.restore();
  const since = performance.now();
  await eventually('it can be called again', async () => (await sessions.revokeAllOf(user)) !== undefined);
  const tookMs = performance.now() - since;
  t.ok(tookMs < 2_000 * leeway, `it is available again after ${Math.round(tookMs)} ms`);
  for (const id of ids) t.equal(await straight.find(id), undefined, `${id} has ended`);
  t.ok(await straight.find('other'), 'no other user’s has');
}
