import { setTimeout as sleep } from 'node:timers/promises';
import t, { type Test } from 'tap';
import { Refusal } from '../../src/errors.ts';
import type { SessionQuery, Sessions } from '../../src/stores/sessions.ts';
import { newSession, sessionTimes } from '../contract/fixtures.ts';
import { openRedisStoresUnderTest } from '../contract/redis-stores.ts';
import { eventually } from '../support/eventually.ts';
import { isLong } from '../support/gateway/gateway-under-load.ts';
import { commandsOf, isOfOperation } from '../support/stores/redis-operations.ts';
import { type RedisRelay, startRedisRelay } from '../support/stores/redis-relay.ts';
import { type RedisServer, requireRedis, startRedis } from '../support/stores/redis-server.ts';
import { wrongRedisReplies } from '../support/stores/wrong-redis-replies.ts';

const timeout = isLong ? 3_000_000 : 600_000;
t.setTimeout(timeout);

const tenant = 'acme';
const expiries = `postern:${tenant}:session-list:{${tenant}}:expires`;
const byCreation: SessionQuery = { sortBy: 'created', sortOrder: 'asc', filters: {}, size: 3 };

/** What is done with the lists, and whether its result is a list or a number that must be right. */
interface Operation {
  readonly reads: boolean;
  run(sessions: Sessions): Promise<unknown>;
}

async function pageOf(sessions: Sessions, query: Partial<SessionQuery>): Promise<object> {
  const { items, ...others } = await sessions.list({ ...byCreation, ...query });
  return { ids: items.map(({ id, userId }) => `${id} of ${userId}`), ...others };
}

const aPage = (query: Partial<SessionQuery>): Operation => ({
  reads: true,
  run: (sessions) => pageOf(sessions, query),
});
const aChange = (run: Operation['run']): Operation => ({ reads: false, run });

const operations: Readonly<Record<string, Operation>> = {
  'a page of all': aPage({}),
  'the last page': aPage({ backwards: true }),
  'a page of a user': aPage({ filters: { userId: 'user-1' } }),
  'a page of a method': aPage({ filters: { method: 'password' }, sortOrder: 'desc' }),
  'a page of a range': aPage({ sortBy: 'last_used', filters: { userId: 'user-2', range: { gte: 1 } } }),
  'the total': { reads: true, run: async (sessions) => sessions.countLive() },
  'removing what has ended': aChange((sessions) => sessions.prune()),
  'ending one': aChange((sessions) => sessions.revoke('b')),
  'ending those of a user': aChange((sessions) => sessions.revokeAllOf('user-1')),
  'ending all': aChange((sessions) => sessions.revokeAll()),
  'one too many': aChange((sessions) => sessions.create(newSession('new', 'user-2'), sessionTimes, 1)),
};

/** Right types, so that no one can tell them from the truth. */
const plausible: Readonly<Record<string, readonly string[]>> = {
  hgetall: ['an empty list', 'a list one item short'],
  zrange: ['an empty list', 'a list one item short', 'a message'],
  hmget: ['a list with a nil', 'a list with three nils', 'a list one item short', 'a message'],
  zcard: ['an integer'],
  zrem: ['an integer', 'a negative integer'],
};

/** A store behind a relay, and one that reaches the same Redis directly. */
interface Stage {
  readonly redis: RedisServer;
  readonly relay: RedisRelay;
  readonly sessions: Sessions;
  readonly straight: Sessions;
}

/** Five sessions; two more are listed, one of which has ended and one has been used since. */
async function prepare({ redis, sessions, straight }: Stage): Promise<void> {
  await redis.command('FLUSHALL');
  for (const [index, id] of ['a', 'b', 'c', 'd', 'e', 'used', 'ended'].entries())
    await straight.create(newSession(id, `user-${(index % 2) + 1}`), sessionTimes);
  await redis.command('DEL', `postern:${tenant}:session:{ended}`);
  for (const id of ['used', 'ended']) await redis.command('ZADD', expiries, Date.now() - 1, id);
  await eventually('it is available', () => sessions.ping().then(() => true));
}

/** Everything on the lists, with totals, and what is stored. */
async function judgeLists(t: Test, { redis, straight }: Stage, mayBeUnlisted: string): Promise<void> {
  const keys = (await redis.command('KEYS', `postern:${tenant}:session:*`)) as string[];
  const stored = keys.map((key) => /\{(.*)\}/.exec(key)![1]!).sort();
  const all = await straight.list({ ...byCreation, size: 100 });
  const listed = all.items.map(({ id }) => id).sort();
  t.strictSame(
    listed,
    stored.filter((id) => id !== mayBeUnlisted || listed.includes(id)),
    'the lists are right afterwards',
  );
  t.equal(all.total, listed.length);
  t.equal(await straight.countLive(), listed.length);
  for (const userId of ['user-1', 'user-2']) {
    const ofUser = await straight.list({ ...byCreation, filters: { userId }, size: 1 });
    t.equal(ofUser.total, all.items.filter((session) => session.userId === userId).length, `of ${userId}`);
  }
}

async function judge(t: Test, stage: Stage, name: string, at: number, command: string, reply: string) {
  const operation = operations[name]!;
  await prepare(stage);
  const right = operation.reads ? await operation.run(stage.straight) : undefined;
  if (operation.reads) await prepare(stage);
  const isLie = plausible[command]?.includes(reply) === true;
  const armed = stage.relay.arm({
    fault: { bytes: wrongRedisReplies[reply]! },
    at,
    commands: isOfOperation,
  });
  const came = await operation.run(stage.sessions).then(
    (result) => ({ result }),
    (error: unknown) => ({ error }),
  );
  // What is left to the background comes after the response.
  await sleep(5);
  armed.disarm();
  if ('error' in came) {
    const { error } = came;
    t.ok(error instanceof Refusal && error.code === 'store_unavailable', String(error));
  } else if (operation.reads && !isLie) t.strictSame(came.result, right, 'the right result');
  await stage.relay.restore();
  await eventually('it is available again', () => stage.sessions.ping().then(() => true));
  if (!isLie) await judgeLists(t, stage, 'new');
}

t.test('lists of sessions: a wrong reply is an unavailable store', { timeout }, async (t) => {
  if (!requireRedis(t)) return;
  const redis = await startRedis(t);
  const relay = await startRedisRelay(t, redis);
  const options = { tenant, commandTimeoutMs: 1_000 };
  const { sessions } = await openRedisStoresUnderTest(t, relay.url, options);
  const { sessions: straight } = await openRedisStoresUnderTest(t, redis.url, { tenant });
  const stage = { redis, relay, sessions, straight };
  const names = Object.keys(wrongRedisReplies);
  let next = 0;
  for (const [name, { run }] of Object.entries(operations)) {
    await prepare(stage);
    // The first run may have to send its scripts.
    await run(sessions);
    await prepare(stage);
    const commands = await commandsOf(relay, () => run(sessions));
    for (const [index, command] of commands.entries())
      for (const reply of isLong ? names : [names[next++ % names.length]!])
        await t.test(`${name}: ${reply} to command ${index + 1} (${command})`, (t) =>
          judge(t, stage, name, index + 1, command, reply),
        );
  }
});

t.test('a reply too many never shows one session as another', { timeout }, async (t) => {
  if (!requireRedis(t)) return;
  const redis = await startRedis(t);
  const relay = await startRedisRelay(t, redis);
  const { sessions } = await openRedisStoresUnderTest(t, relay.url, { tenant });
  const ids = ['a', 'b', 'c', 'd'];
  for (const id of ids) await sessions.create(newSession(id, `user ${id}`), sessionTimes);
  for (const extra of ['$-1\r\n', '*0\r\n', ':1\r\n', '*2\r\n$1\r\na\r\n$1\r\nb\r\n']) {
    await eventually('it is available', () => sessions.ping().then(() => true));
    const armed = relay.arm({ fault: { bytes: `:7\r\n${extra}` }, commands: ['hgetall'] });
    const found = await Promise.allSettled(ids.map(async (id) => sessions.find(id)));
    armed.disarm();
    t.equal(armed.struck, 1);
    for (const [index, result] of found.entries())
      if (result.status === 'fulfilled') t.match(result.value, { userId: `user ${ids[index]}` });
      else t.match(result.reason, { code: 'store_unavailable' });
  }
});
