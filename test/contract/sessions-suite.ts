import t, { type Test } from 'tap';
import type { Presentation } from '../../src/stores/sessions.ts';
import { newSession, sessionTimes, startOfTime } from './fixtures.ts';
import { checkRotationAgainstModel } from './rotation-walk.ts';
import { isGone, type SessionsFactory, type SessionsUnderTest } from './sessions-under-test.ts';

const { idleLifetimeMs, absoluteLifetimeMs, reuseGraceMs } = sessionTimes;

function generationOf(presentation: Presentation): number | string {
  return presentation.outcome === 'current' ? presentation.session.generation : presentation.outcome;
}

/** The contract of every session store. */
export function runSessionsSuite({ name, create }: SessionsFactory): void {
  t.test(`${name}: a new session is alive, and is returned complete`, async (t) => {
    const { store } = await create(t);
    const { session, now } = await store.create({ ...newSession('s'), scope: 'a b' }, sessionTimes);
    t.equal(now, startOfTime);
    const expected = {
      ...newSession('s'),
      scope: 'a b',
      created: now,
      lastUsed: now,
      expires: now + idleLifetimeMs,
      generation: 1,
      provider: null,
      sealedIdToken: null,
      sealedClaims: null,
    };
    t.strictSame(session, expected);
    t.strictSame(await store.find('s'), expected);
    const begun = { isRestricted: true, origin: null, sealedClaims: null };
    const live = { id: 's', userId: 'user-1', expires: now + idleLifetimeMs, epoch: 7, ...begun };
    t.strictSame(await store.findLive('s'), live);
    t.equal(await store.find('other'), undefined);
    t.equal(await store.findLive('other'), undefined);
  });

  t.test(`${name}: a session ends exactly at its idle end`, async (t) => {
    const { store, advance } = await create(t);
    await store.create(newSession('s'), sessionTimes);
    await advance(idleLifetimeMs - 1);
    t.ok(await store.findLive('s'));
    await advance(1);
    t.equal(await store.findLive('s'), undefined);
    t.equal(await store.find('s'), undefined);
    t.strictSame(await store.present('s', 1, sessionTimes), { outcome: 'gone' });
    t.equal(await store.revoke('s'), undefined, 'an expired session is not ended a second time');
  });

  t.test(`${name}: each use moves the idle end, never past the absolute end`, async (t) => {
    const { store, advance } = await create(t);
    await store.create(newSession('s'), sessionTimes);
    let generation = 1;
    for (let elapsed = 90_000; elapsed < absoluteLifetimeMs; elapsed += 90_000) {
      await advance(90_000);
      const presentation = await store.present('s', generation, sessionTimes);
      if (presentation.outcome !== 'current') throw new Error(presentation.outcome);
      generation = presentation.session.generation;
      const expires = startOfTime + Math.min(elapsed + idleLifetimeMs, absoluteLifetimeMs);
      t.equal(presentation.now, startOfTime + elapsed);
      t.equal(presentation.session.lastUsed, startOfTime + elapsed);
      t.equal(presentation.session.expires, expires);
      t.match(await store.findLive('s'), { expires });
    }
    await advance(50_000);
    t.equal(await store.findLive('s'), undefined);
  });

  t.test(`${name}: a lifetime configured shorter ends a session at its next use`, async (t) => {
    const { store, advance } = await create(t);
    await store.create(newSession('s'), sessionTimes);
    await advance(50_000);
    const shorter = { ...sessionTimes, absoluteLifetimeMs: 40_000 };
    t.equal(generationOf(await store.present('s', 1, shorter)), 'gone');
    t.equal(await store.findLive('s'), undefined);
  });

  t.test(`${name}: parallel refreshes with one cookie rotate once and agree`, async (t) => {
    const { store, openSecond, advance } = await create(t);
    const second = await openSecond();
    await store.create(newSession('s'), sessionTimes);
    await advance(reuseGraceMs);
    const stores = Array.from({ length: 10 }, (_, index) => (index % 2 ? store : second));
    const responses = await Promise.all(stores.map((each) => each.present('s', 1, sessionTimes)));
    t.strictSame(new Set(responses.map(generationOf)), new Set([2]));
    t.equal(responses.filter((response) => response.outcome === 'current' && response.rotated).length, 1);
  });

  t.test(`${name}: reuse ends the session in the same step, on every connection`, async (t) => {
    const { store, openSecond, advance, seesAtOnce } = await create(t);
    const second = await openSecond();
    await store.create(newSession('s'), sessionTimes);
    await advance(reuseGraceMs);
    t.equal(generationOf(await store.present('s', 1, sessionTimes)), 2);
    t.equal(generationOf(await store.present('s', 2, sessionTimes)), 2);
    t.ok(await second.findLive('s'));
    await advance(reuseGraceMs);
    t.match(await store.present('s', 1, sessionTimes), { outcome: 'reused', session: { id: 's' } });
    t.equal(await store.findLive('s'), undefined);
    t.equal(generationOf(await second.present('s', 2, sessionTimes)), 'gone');
    t.ok(await isGone(second, 's', seesAtOnce));
  });

  /** A session whose second cookie has been presented, when its clock is set back by an hour. */
  async function setBackAfterRotation(t: Test, { store, advance, step }: SessionsUnderTest) {
    await store.create(newSession('s'), sessionTimes);
    await advance(reuseGraceMs);
    t.equal(generationOf(await store.present('s', 1, sessionTimes)), 2);
    t.equal(generationOf(await store.present('s', 2, sessionTimes)), 2);
    step(-3_600_000);
  }

  t.test(`${name}: a clock that is set back stops no rotation`, async (t) => {
    const underTest = await create(t);
    const { store, advance } = underTest;
    await setBackAfterRotation(t, underTest);
    t.equal(generationOf(await store.present('s', 2, sessionTimes)), 2, 'within the grace');
    await advance(reuseGraceMs);
    const rotated = await store.present('s', 2, sessionTimes);
    const now = startOfTime + 2 * reuseGraceMs - 3_600_000;
    t.match(rotated, {
      now,
      rotated: true,
      session: { generation: 3, lastUsed: now, expires: now + idleLifetimeMs },
    });
    t.equal(generationOf(await store.present('s', 3, sessionTimes)), 3);
    await advance(reuseGraceMs);
    t.equal(generationOf(await store.present('s', 3, sessionTimes)), 4, 'and goes on by the new time');
  });

  t.test(`${name}: a clock that is set back lengthens no grace, and shortens none`, async (t) => {
    const underTest = await create(t);
    const { store, advance } = underTest;
    await setBackAfterRotation(t, underTest);
    await advance(reuseGraceMs - 1);
    t.equal(generationOf(await store.present('s', 1, sessionTimes)), 2);
    await advance(1);
    t.equal(generationOf(await store.present('s', 1, sessionTimes)), 'reused');
  });

  t.test(`${name}: nor where the process began after that`, async (t) => {
    const underTest = await create(t);
    await setBackAfterRotation(t, underTest);
    const later = await underTest.openSecond();
    t.equal(generationOf(await later.present('s', 1, sessionTimes)), 'reused');
  });

  t.test(`${name}: a clock that was a month ahead ends no session for good`, async (t) => {
    const { store, advance, step } = await create(t);
    await store.create(newSession('s'), sessionTimes);
    step(30 * 86_400_000);
    t.strictSame(await store.present('s', 1, sessionTimes), { outcome: 'gone' });
    await store.create(newSession('made meanwhile'), sessionTimes);
    step(-30 * 86_400_000);
    await advance(reuseGraceMs);
    t.equal(generationOf(await store.present('s', 1, sessionTimes)), 2);
    t.equal(generationOf(await store.present('made meanwhile', 1, sessionTimes)), 2);
  });

  t.test(`${name}: a malformed generation does nothing`, async (t) => {
    const { store } = await create(t);
    await store.create(newSession('s'), sessionTimes);
    for (const generation of [0, -1, 1.5, Number.NaN, Number.POSITIVE_INFINITY, 2 ** 53]) {
      t.strictSame(await store.present('s', generation, sessionTimes), { outcome: 'gone' }, `${generation}`);
    }
    t.match(await store.find('s'), { generation: 1 });
  });

  t.test(`${name}: a change by one connection is visible to the other`, async (t) => {
    const { store, openSecond, advance, seesAtOnce } = await create(t);
    const second = await openSecond();
    t.equal(await second.findLive('s'), undefined);
    await store.create(newSession('s'), sessionTimes);
    t.ok(await second.findLive('s'));
    await advance(50_000);
    await store.present('s', 1, sessionTimes);
    await advance(60_000);
    t.ok(await second.findLive('s'), 'a use by the other connection has moved the idle end');
    t.match(await second.revoke('s'), { id: 's' });
    t.equal(await second.findLive('s'), undefined);
    t.ok(await isGone(store, 's', seesAtOnce));
    t.equal(await store.revoke('s'), undefined);
  });

  t.test(`${name}: all sessions of a user end, except the one named`, async (t) => {
    const { store, openSecond, advance, seesAtOnce } = await create(t);
    const second = await openSecond();
    await store.create(newSession('expired'), { ...sessionTimes, idleLifetimeMs: 10 });
    await advance(10);
    for (const id of ['a', 'b', 'c']) await store.create(newSession(id), sessionTimes);
    await store.create(newSession('other', 'user-2'), sessionTimes);
    for (const each of [store, second]) t.ok(await each.findLive('a'));
    t.strictSame([...(await store.revokeAllOf('user-1', 'b'))].sort(), ['a', 'c'], 'only live ones');
    t.equal(await store.findLive('a'), undefined);
    t.ok(await isGone(second, 'a', seesAtOnce));
    t.ok(await store.findLive('b'));
    t.ok(await store.findLive('other'));
    t.strictSame(await store.revokeAllOf('user-1'), ['b']);
    t.strictSame(await store.revokeAllOf('user-1'), []);
  });

  t.test(`${name}: pruning deletes expired entries and nothing else`, async (t) => {
    const { store, advance } = await create(t);
    for (const id of ['a', 'b']) await store.create(newSession(id), { ...sessionTimes, idleLifetimeMs: 10 });
    await store.create(newSession('c'), sessionTimes);
    await advance(10);
    await store.prune();
    t.equal(await store.prune(), 0);
    t.ok(await store.findLive('c'));
  });

  t.test(`${name}: any walk of refreshes agrees with the model`, async (t) => {
    const underTest = await create(t);
    await checkRotationAgainstModel(underTest, await underTest.openSecond());
  });

  t.test(`${name}: a closed store is unavailable`, async (t) => {
    const { store } = await create(t);
    await store.ping();
    await store.close();
    await t.rejects(store.ping(), { code: 'store_unavailable' });
    await t.rejects(store.revoke('s'), { code: 'store_unavailable' });
  });
}
