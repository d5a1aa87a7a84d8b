import t from 'tap';
import { newSession, sessionTimes, startOfTime } from './fixtures.ts';
import { isGone, type SessionsFactory } from './sessions-under-test.ts';

const { idleLifetimeMs, absoluteLifetimeMs, reuseGraceMs } = sessionTimes;

/** The contract of every session store for uses that are noted without the refresh cookie. */
export function runSessionUsesSuite({ name, create }: SessionsFactory): void {
  t.test(`${name}: a noted use moves last use and idle end, and nothing else`, async (t) => {
    const { store, openSecond, advance } = await create(t);
    const second = await openSecond();
    const { session } = await store.create({ ...newSession('s'), scope: 'a b' }, sessionTimes);
    await advance(60_000);
    await store.noteUse(new Map([['s', startOfTime + 50_000]]), sessionTimes);
    const used = {
      ...session,
      lastUsed: startOfTime + 50_000,
      expires: startOfTime + 50_000 + idleLifetimeMs,
    };
    for (const each of [store, second]) t.strictSame(await each.find('s'), used);
    await advance(idleLifetimeMs - 10_001);
    for (const each of [store, second]) t.match(await each.findLive('s'), { expires: used.expires });
    await advance(1);
    for (const each of [store, second]) t.equal(await each.findLive('s'), undefined);
  });

  t.test(`${name}: a noted use neither confirms a refresh cookie nor rotates it`, async (t) => {
    const { store, advance } = await create(t);
    await store.create(newSession('s'), sessionTimes);
    await advance(reuseGraceMs);
    t.match(await store.present('s', 1, sessionTimes), { session: { generation: 2 } });
    await advance(reuseGraceMs);
    await store.noteUse(new Map([['s', startOfTime + 2 * reuseGraceMs]]), sessionTimes);
    // Never presented: its response was lost, and the previous cookie gets a successor.
    t.match(await store.present('s', 1, sessionTimes), { session: { generation: 3 }, rotated: true });
    t.match(await store.present('s', 2, sessionTimes), { outcome: 'reused' });
  });

  t.test(`${name}: noted uses come in any order and any number of times`, async (t) => {
    const { store, advance } = await create(t);
    await store.create(newSession('s'), sessionTimes);
    await advance(40_000);
    const latest = { lastUsed: startOfTime + 30_000, expires: startOfTime + 30_000 + idleLifetimeMs };
    for (const after of [30_000, 20_000, 30_000, -1, 0]) {
      await store.noteUse(new Map([['s', startOfTime + after]]), sessionTimes);
      t.match(await store.find('s'), latest, `${after} ms`);
    }
    await store.noteUse(new Map([['s', startOfTime + 10 * absoluteLifetimeMs]]), sessionTimes);
    t.match(await store.find('s'), { lastUsed: startOfTime + 40_000 }, 'the future counts as now');
    await store.noteUse(new Map(), sessionTimes);
  });

  t.test(`${name}: no noted use outlives the absolute end, or a user's end of sessions`, async (t) => {
    const { store, openSecond, advance, seesAtOnce } = await create(t);
    const second = await openSecond();
    for (const id of ['s', 'revoked']) await store.create(newSession(id), sessionTimes);
    for (let elapsed = 90_000; elapsed < absoluteLifetimeMs; elapsed += 90_000) {
      await advance(90_000);
      const instant = startOfTime + elapsed;
      await second.noteUse(new Map(['s', 'revoked'].map((id) => [id, instant])), sessionTimes);
      const expires = startOfTime + Math.min(elapsed + idleLifetimeMs, absoluteLifetimeMs);
      t.match(await store.find('s'), { lastUsed: instant, expires });
      t.equal(await store.countLive(), 2);
    }
    await store.create(newSession('other', 'user-2'), sessionTimes);
    t.match(await store.revoke('revoked'), { id: 'revoked' });
    t.strictSame(await store.revokeAllOf('user-1'), ['s'], 'it is found, however long it has lived');
    t.ok(await isGone(second, 's', seesAtOnce));
    t.ok(await store.findLive('other'));
  });

  t.test(`${name}: at the absolute end a session ends, whatever is noted`, async (t) => {
    const { store, advance } = await create(t);
    await store.create(newSession('s'), { ...sessionTimes, idleLifetimeMs: absoluteLifetimeMs });
    await advance(absoluteLifetimeMs - 1);
    await store.noteUse(new Map([['s', startOfTime + absoluteLifetimeMs - 1]]), sessionTimes);
    t.match(await store.findLive('s'), { expires: startOfTime + absoluteLifetimeMs });
    await advance(1);
    await store.noteUse(new Map([['s', startOfTime + absoluteLifetimeMs - 1]]), sessionTimes);
    t.equal(await store.findLive('s'), undefined);
    t.equal(await store.countLive(), 0);
  });

  t.test(`${name}: a noted use revives nothing`, async (t) => {
    const { store, advance } = await create(t);
    for (const id of ['expired', 'revoked']) await store.create(newSession(id), sessionTimes);
    await store.revoke('revoked');
    await advance(idleLifetimeMs);
    const instant = startOfTime + idleLifetimeMs - 1;
    await store.noteUse(
      new Map(['expired', 'revoked', 'never there'].map((id) => [id, instant])),
      sessionTimes,
    );
    for (const id of ['expired', 'revoked', 'never there']) {
      t.equal(await store.find(id), undefined, id);
      t.equal(await store.findLive(id), undefined, id);
    }
    t.equal(await store.countLive(), 0);
    t.strictSame(
      (await store.list({ sortBy: 'last_used', sortOrder: 'asc', filters: {}, size: 10 })).items,
      [],
    );
  });

  t.test(`${name}: noted uses put many sessions in the order of their last use`, async (t) => {
    const { store, advance } = await create(t);
    const ids = Array.from({ length: 300 }, (_, index) => `${(index * 7919) % 10_007}`);
    for (const id of ids) await store.create(newSession(id), sessionTimes);
    await advance(50_000);
    await store.noteUse(
      new Map(ids.map((id, index) => [id, startOfTime + 50_000 - index - 1])),
      sessionTimes,
    );
    // Past the idle end that they had before.
    await advance(idleLifetimeMs - 10_000);
    t.equal(await store.countLive(), ids.length);
    const query = {
      sortBy: 'last_used',
      sortOrder: 'desc',
      filters: { userId: 'user-1' },
      size: 100,
    } as const;
    const { items, total } = await store.list(query);
    t.equal(total, ids.length);
    t.strictSame(
      items.map(({ id }) => id),
      ids.slice(0, 100),
    );
  });

  t.test(`${name}: a lifetime configured shorter ends a session at its next noted use`, async (t) => {
    const { store, advance } = await create(t);
    await store.create(newSession('s'), sessionTimes);
    await advance(50_000);
    const shorter = { ...sessionTimes, absoluteLifetimeMs: 40_000 };
    await store.noteUse(new Map([['s', startOfTime + 50_000]]), shorter);
    t.equal(await store.find('s'), undefined);
    t.equal(await store.findLive('s'), undefined);
    t.equal(await store.countLive(), 0);
  });
}
