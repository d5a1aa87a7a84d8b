import t from 'tap';
import { Refusal } from '../../src/errors.ts';
import type { RedisLink } from '../../src/stores/redis/link.ts';
import { Liveness } from '../../src/stores/redis/liveness.ts';

const staleIfErrorMs = 30_000;
const session = (id: string, expires = 1_000_000) => ({
  ...{ id, userId: 'user', expires, epoch: 0 },
  ...{ isRestricted: false, origin: null, sealedClaims: null },
});

/** Two sessions seen at 1,000, with the store, the notifications and the clocks in the hand of the test. */
function setUp(notified: { readonly since: number; readonly until: number }) {
  const store = { now: 0, isDown: false, queries: 0, missing: new Set<string>() };
  const time = { now: 1_000 };
  const link = {
    clock: { now: () => store.now },
    get isDown() {
      return store.isDown;
    },
    async read() {
      store.queries += 1;
      if (store.isDown) throw new Refusal('store_unavailable');
      return undefined;
    },
  };
  const liveness = new Liveness({
    link: link as unknown as RedisLink,
    livenessAgeMs: 5_000,
    staleIfErrorMs: () => staleIfErrorMs,
    notifications: { notifiedSince: notified.since, notifiedUntil: notified.until },
    elapsed: () => time.now,
  });
  t.teardown(() => liveness.close());
  for (const id of ['a', 'b']) liveness.set(session(id), 1_000);
  /** Whether a session counts at that instant while the store is unavailable. */
  const countsAt = (id: string, instant: number): boolean => {
    time.now = instant;
    store.isDown = true;
    try {
      return liveness.find(id) !== undefined;
    } catch {
      return false;
    } finally {
      store.isDown = false;
    }
  };
  /** Queries a session at that instant, and finds it missing. */
  const missAt = async (id: string, instant: number) => {
    time.now = instant;
    t.equal(await liveness.find(id), undefined);
  };
  return { liveness, store, time, countsAt, missAt };
}

t.test(
  'a session whose end would have been notified counts from the last confirmed notification',
  async (t) => {
    const { countsAt } = setUp({ since: 500, until: 60_000 });
    t.ok(countsAt('a', 60_000 + staleIfErrorMs - 1));
    t.notOk(countsAt('a', 60_000 + staleIfErrorMs));
  },
);

t.test('a session seen before the subscription counts from when it was seen', async (t) => {
  for (const notified of [
    { since: 1_001, until: 60_000 },
    { since: Number.POSITIVE_INFINITY, until: 0 },
  ]) {
    const { countsAt } = setUp(notified);
    t.ok(countsAt('a', 1_000 + staleIfErrorMs - 1));
    t.notOk(countsAt('a', 1_000 + staleIfErrorMs));
  }
});

t.test(
  'after a session went missing without a notification, the others count from when they were seen',
  async (t) => {
    const { liveness, countsAt, missAt } = setUp({ since: 500, until: 60_000 });
    await missAt('b', 50_000);
    t.notOk(countsAt('a', 61_000));
    liveness.set(session('a'), 50_001);
    t.ok(countsAt('a', 61_000));
  },
);

t.test(
  'a session that expired, or whose end is notified after it was found missing, does not affect the others',
  async (t) => {
    const { liveness, store, countsAt, missAt } = setUp({ since: 500, until: 60_000 });
    liveness.set(session('b', 10), 1_000);
    store.now = 10;
    await missAt('b', 50_000);
    t.ok(countsAt('a', 61_000));
    liveness.set(session('c'), 1_000);
    await missAt('c', 70_000);
    t.notOk(countsAt('a', 71_000));
    liveness.end('c');
    t.ok(countsAt('a', 71_000));
  },
);

t.test('a session that may have ended unnoticed is queried, and counts from when it was seen', async (t) => {
  const { liveness, store, countsAt } = setUp({ since: 500, until: 60_000 });
  t.ok(countsAt('a', 61_000), 'before');
  liveness.doubt('a');
  t.notOk(countsAt('a', 61_000));
  t.notOk(countsAt('never-seen', 0));
  t.ok(liveness.find('a') instanceof Promise);
  t.equal(store.queries, 1);
});

t.test(
  'a session is used unqueried up to its age while its end would be notified, and for 300 ms otherwise',
  async (t) => {
    for (const [until, trustedMs] of [
      [5_900, 5_000],
      [0, 300],
    ] as const) {
      const { liveness, store, time } = setUp({ since: 500, until });
      time.now = 1_000 + trustedMs - 1;
      t.match(liveness.find('a'), { id: 'a' });
      t.equal(store.queries, 0);
      time.now += 1;
      t.ok(liveness.find('a') instanceof Promise);
    }
  },
);
