import t, { type Test } from 'tap';
import type { Session, SessionQuery, Sessions } from '../../src/stores/sessions.ts';
import { newSession, sessionTimes as shortTimes } from '../contract/fixtures.ts';
import { newTenant, openRedisStoresUnderTest } from '../contract/redis-stores.ts';
import { instantOf } from '../contract/session-model.ts';
import { createManualClock, createSqliteSessionsUnderTest } from '../contract/sqlite-stores.ts';
import { createRandom } from '../support/corpora/random.ts';
import { isLong } from '../support/gateway/gateway-under-load.ts';
import { requireRedis, startRedis } from '../support/stores/redis-server.ts';

t.setTimeout(600_000);

/** Redis deletes what has expired by its own clock, whatever the test's: nothing may while the test runs. */
const sessionTimes = { ...shortTimes, idleLifetimeMs: 3_600_000, absoluteLifetimeMs: 7_200_000 };
const sessionCount = isLong ? 100_000 : 2_000;
/** A page is 50 sessions; judged in the full size alone, where a scan would show. */
const maxPageCpuMs = 20;
/** Of all scripts, on the average: a machine may be busy for longer than one takes. */
const maxScriptMicroseconds = 1_000;
/** What is judged is the cost, not how soon a busy machine gets to it. */
const commandTimeoutMs = 60_000;
const atOnce = 200;
const userCount = 500;

/** An empty store, and its clock. */
interface Place {
  readonly store: Sessions;
  advance(ms: number): void | Promise<void>;
}

/** One user in a hundred has one half of the sessions, and one method most of them. */
async function fill({ store, advance }: Place): Promise<Session[]> {
  const random = createRandom(11);
  const made: Session[] = [];
  while (made.length < sessionCount) {
    const batch = Array.from({ length: atOnce }, () => {
      const userId = random.oneIn(2) ? 'many' : `user-${random.below(userCount)}`;
      const id = `${random.below(2 ** 31)}-${made.length}-${random.below(2 ** 31)}`;
      return { ...newSession(id, userId), method: random.oneIn(50) ? 'idp' : 'password' };
    });
    const begun = await Promise.all(batch.map((session) => store.create(session, sessionTimes)));
    made.push(...begun.map(({ session }) => session));
    await advance(random.below(3));
  }
  return made;
}

const filterCases: Readonly<Record<string, SessionQuery['filters']>> = {
  'all sessions': {},
  'a user with many': { userId: 'many' },
  'a user with few': { userId: 'user-7' },
  'a rare method': { method: 'idp' },
  'the usual method': { method: 'password' },
  'a method of a user with many': { userId: 'many', method: 'idp' },
};

/** What a page costs this process, in ms: the least of three, as other work of the process may fall into one. */
async function cpuOf(store: Sessions, query: SessionQuery): Promise<number> {
  const costs: number[] = [];
  for (let run = 0; run < 3; run += 1) {
    const before = process.cpuUsage();
    await store.list(query);
    const { user, system } = process.cpuUsage(before);
    costs.push((user + system) / 1_000);
  }
  return Math.min(...costs);
}

async function judgePages(t: Test, store: Sessions, made: readonly Session[]): Promise<void> {
  for (const [name, filters] of Object.entries(filterCases))
    for (const sortBy of ['created', 'last_used'] as const) {
      const matching = made
        .filter(({ userId }) => filters.userId === undefined || filters.userId === userId)
        .filter(({ method }) => filters.method === undefined || filters.method === method)
        .sort((a, b) => instantOf(a, sortBy) - instantOf(b, sortBy) || (a.id < b.id ? -1 : 1));
      const query: SessionQuery = { sortBy, sortOrder: 'asc', filters, size: 50 };
      const middle = Math.floor(matching.length / 2);
      const from = { value: instantOf(matching[middle]!, sortBy), id: matching[middle]!.id };
      const first = await store.list(query);
      t.equal(first.total, matching.length, `${name} by ${sortBy}`);
      t.strictSame(
        (await store.list({ ...query, from })).items.map(({ id }) => id),
        matching.slice(middle + 1, middle + 51).map(({ id }) => id),
        'after the middle',
      );
      const costs = [
        await cpuOf(store, query),
        await cpuOf(store, { ...query, from }),
        await cpuOf(store, { ...query, backwards: true }),
      ];
      t.comment(`${name} by ${sortBy}: ${costs.map((ms) => ms.toFixed(1)).join(', ')} ms CPU`);
      if (isLong) for (const ms of costs) t.ok(ms < maxPageCpuMs, `${ms} ms`);
    }
}

/** Reads all by creation while sessions come, are used and go. */
async function judgeExact(t: Test, { store, advance }: Place, made: readonly Session[]): Promise<void> {
  const random = createRandom(5);
  const ended = new Set<string>();
  const read: string[] = [];
  const query: SessionQuery = { sortBy: 'created', sortOrder: 'desc', filters: {}, size: 100 };
  let page = await store.list(query);
  for (let count = 0; ; count += 1) {
    read.push(...page.items.map(({ id }) => id));
    const last = page.items.at(-1);
    if (last === undefined || !page.after) break;
    const { id } = random.pick(made);
    if ((await store.revoke(id)) !== undefined) ended.add(id);
    await store.create(newSession(`came ${count}`), sessionTimes);
    const used = random.pick(made);
    if (!ended.has(used.id)) await store.present(used.id, used.generation, sessionTimes);
    await advance(1);
    page = await store.list({ ...query, from: { value: last.created, id: last.id } });
  }
  const seen = new Set(read);
  t.equal(seen.size, read.length, 'nothing twice');
  t.strictSame(
    made.filter(({ id }) => !ended.has(id) && !seen.has(id)),
    [],
    'nothing missed',
  );
}

async function judge(t: Test, place: Place): Promise<void> {
  const made = await fill(place);
  t.equal(await place.store.countLive(), made.length);
  await judgePages(t, place.store, made);
  await judgeExact(t, place, made);
}

t.test(`${sessionCount} sessions in SQLite`, (t) => judge(t, createSqliteSessionsUnderTest(t)));

t.test(`${sessionCount} sessions in Redis`, async (t) => {
  if (!requireRedis(t)) return;
  const redis = await startRedis(t);
  const { now, advance } = createManualClock();
  const { sessions } = await openRedisStoresUnderTest(t, redis.url, {
    tenant: newTenant(),
    testClock: now,
    commandTimeoutMs,
  });
  await judge(t, { store: sessions, advance });
  const used = String(await redis.command('INFO', 'commandstats'));
  t.notMatch(used, /cmdstat_(?:scan|keys|[hsz]scan):/);
  const meanMicroseconds = Number(/cmdstat_evalsha:.*usec_per_call=([\d.]+)/.exec(used)?.[1]);
  t.comment(`a script takes ${meanMicroseconds} µs`);
  if (isLong) t.ok(meanMicroseconds < maxScriptMicroseconds, 'nothing blocks Redis');
});
