import t, { type Test } from 'tap';
import { scripts } from '../../src/stores/redis/scripts.ts';
import type { SessionFilters, SessionQuery, Sessions } from '../../src/stores/sessions.ts';
import { newSession, sessionTimes, startOfTime } from '../contract/fixtures.ts';
import { newTenant, openRedisStoresUnderTest } from '../contract/redis-stores.ts';
import { createManualClock } from '../contract/sqlite-stores.ts';
import { eventually } from '../support/eventually.ts';
import { type RedisRelay, startRedisRelay } from '../support/stores/redis-relay.ts';
import type { RelayCommand } from '../support/stores/redis-relay-faults.ts';
import { type RedisServer, requireRedis, startRedis } from '../support/stores/redis-server.ts';

t.setTimeout(600_000);

/** A page of one session: what has ended is not on it, and must not be counted. */
const firstOnly: SessionQuery = { sortBy: 'created', sortOrder: 'asc', filters: {}, size: 1 };

/** A store behind a relay, another gateway's, and the clock of both. */
interface Stage {
  readonly redis: RedisServer;
  readonly relay: RedisRelay;
  readonly one: Sessions;
  readonly other: Sessions;
  readonly advance: (ms: number) => void;
}

async function startStage(t: Test): Promise<Stage> {
  const redis = await startRedis(t);
  const relay = await startRedisRelay(t, redis);
  const tenant = newTenant();
  const { now, advance } = createManualClock();
  const open = async (url: string) =>
    (await openRedisStoresUnderTest(t, url, { tenant, testClock: now })).sessions;
  return { redis, relay, one: await open(relay.url), other: await open(redis.url), advance };
}

const begin = async ({ one, advance }: Stage, ids: readonly string[]) => {
  for (const id of ids) {
    await one.create(newSession(id), sessionTimes);
    advance(1);
  }
};

/** Whether every total is that. */
async function judgeTotals(t: Test, sessions: Sessions, total: number): Promise<void> {
  const each: SessionFilters[] = [{}, { userId: 'user-1' }, { method: 'password' }];
  for (const filters of [...each, { userId: 'user-1', method: 'password' }]) {
    const page = await sessions.list({ ...firstOnly, filters });
    t.equal(page.total, total, JSON.stringify(filters));
    t.equal(page.after, total > 1);
  }
  t.equal(await sessions.countLive(), total);
}

const runs =
  (...names: readonly (keyof typeof scripts)[]) =>
  ({ args: [sha] }: RelayCommand) =>
    names.some((name) => scripts[name].sha === sha || scripts[name].source === sha);

const ends: Readonly<Record<string, (sessions: Sessions) => Promise<unknown>>> = {
  'one session ends': (sessions) => sessions.revoke('c'),
  'all but one of a user end': (sessions) => sessions.revokeAllOf('user-1', 'a'),
};

for (const [name, end] of Object.entries(ends))
  t.test(`${name}, and the gateway dies before it takes them off the lists`, async (t) => {
    if (!requireRedis(t)) return;
    const stage = await startStage(t);
    await begin(stage, ['a', 'b', 'c']);
    const lost = stage.relay.arm({ fault: 'swallow-command', isLasting: true, commands: runs('unlist') });
    await end(stage.one);
    await lost.hasStruck;
    await judgeTotals(t, stage.other, name.startsWith('one') ? 2 : 1);
  });

t.test('a session ends while the lists can’t be written', async (t) => {
  if (!requireRedis(t)) return;
  const stage = await startStage(t);
  const { relay, one, other } = stage;
  await begin(stage, ['a', 'b', 'c']);
  // As in a Cluster whose node with the lists is just being replaced.
  const fault = { error: 'CLUSTERDOWN The cluster is down' };
  const refused = relay.arm({ fault, isLasting: true, commands: runs('check', 'unlist') });
  t.ok(await one.revoke('c'), 'it ends nonetheless');
  await eventually('both were tried', async () => refused.struck >= 2);
  refused.disarm();
  await one.prune();
  await judgeTotals(t, other, 2);
  await judgeTotals(t, one, 2);
});

t.test('a session that was to end and did not is counted again', async (t) => {
  if (!requireRedis(t)) return;
  const stage = await startStage(t);
  await begin(stage, ['a', 'b', 'c']);
  stage.relay.arm({ fault: { error: 'OOM command not allowed' }, commands: runs('revoke') });
  await t.rejects(stage.one.revoke('c'), { code: 'store_unavailable' });
  await judgeTotals(t, stage.other, 3);
});

t.test('idle and absolute ends count by the store’s clock, to the millisecond', async (t) => {
  if (!requireRedis(t)) return;
  const { one, other, advance } = await startStage(t);
  const begun = async (id: string, idleLifetimeMs: number, absoluteLifetimeMs: number) =>
    one.create(newSession(id), { ...sessionTimes, idleLifetimeMs, absoluteLifetimeMs });
  await begun('lives', 100_000, 100_000);
  await begun('idle', 10_000, 100_000);
  await begun('absolute', 100_000, 15_000);
  await begun('used', 10_000, 100_000);
  advance(9_999);
  await judgeTotals(t, other, 4);
  await one.present('used', 1, sessionTimes);
  advance(1);
  await judgeTotals(t, other, 3);
  advance(4_999);
  await judgeTotals(t, other, 3);
  advance(1);
  await judgeTotals(t, other, 2);
});

t.test('a lifetime that was made shorter ends a session at its next use', async (t) => {
  if (!requireRedis(t)) return;
  const stage = await startStage(t);
  await begin(stage, ['a', 'b']);
  stage.advance(20_000);
  const shorter = { ...sessionTimes, absoluteLifetimeMs: 10_000 };
  t.equal((await stage.one.present('b', 1, shorter)).outcome, 'gone');
  await judgeTotals(t, stage.one, 1);
});

t.test('sessions that earlier versions listed are counted, ended ones are not', async (t) => {
  if (!requireRedis(t)) return;
  const stage = await startStage(t);
  const { redis, other } = stage;
  await begin(stage, ['a', 'b']);
  const [list] = (await redis.command('KEYS', '*:session-list:*:expires')) as [string];
  // Its use was not listed before the gateway ended.
  await redis.command('ZADD', list, startOfTime - 1, 'a');
  await redis.command('ZADD', list, startOfTime - 1, 'b');
  const [key] = (await redis.command('KEYS', '*:session:{b}')) as [string];
  await redis.command('DEL', key);
  await judgeTotals(t, other, 1);
});
