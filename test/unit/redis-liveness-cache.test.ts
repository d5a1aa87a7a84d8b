import t from 'tap';
import { LivenessCache, type Subscription } from '../../src/stores/redis/liveness-cache.ts';

const staleMs = 30_000;
const session = (id: string) => ({
  ...{ id, userId: 'user', expires: 1_000_000, epoch: 0 },
  ...{ isRestricted: false, origin: null },
});
const notified = (since: number, until: number): Subscription => ({ since: null, lastSince: since, until });

function setUp() {
  const cache = new LivenessCache(5_000);
  for (const id of ['a', 'b']) cache.set(session(id), 1_000);
  return cache;
}

t.test(
  'a session whose end would have been notified counts from the last confirmed notification',
  async (t) => {
    const cache = setUp();
    const subscription = notified(500, 60_000);
    t.match(cache.aliveWithin('a', staleMs, 60_000 + staleMs - 1, subscription), { id: 'a' });
    t.equal(cache.aliveWithin('a', staleMs, 60_000 + staleMs, subscription), undefined);
  },
);

t.test('a session seen before the subscription counts from when it was seen', async (t) => {
  const cache = setUp();
  for (const subscription of [notified(1_001, 60_000), notified(Number.POSITIVE_INFINITY, 0)]) {
    t.match(cache.aliveWithin('a', staleMs, 1_000 + staleMs - 1, subscription), { id: 'a' });
    t.equal(cache.aliveWithin('a', staleMs, 1_000 + staleMs, subscription), undefined);
  }
});

t.test(
  'after a session went missing without a notification, the others count from when they were seen',
  async (t) => {
    const cache = setUp();
    cache.markMissing('b', 50_000, 0);
    t.equal(cache.aliveWithin('a', staleMs, 61_000, notified(500, 60_000)), undefined);
    cache.set(session('a'), 50_001);
    t.match(cache.aliveWithin('a', staleMs, 61_000, notified(500, 60_000)), { id: 'a' });
  },
);

t.test(
  'a session that expired, or whose end is notified after it was found missing, does not affect the others',
  async (t) => {
    const cache = setUp();
    cache.markMissing('b', 50_000, 1_000_000);
    t.match(cache.aliveWithin('a', staleMs, 61_000, notified(500, 60_000)), { id: 'a' });
    cache.set(session('c'), 1_000);
    cache.markMissing('c', 50_000, 0);
    cache.end('c');
    t.match(cache.aliveWithin('a', staleMs, 61_000, notified(500, 60_000)), { id: 'a' });
  },
);

t.test('a session that may have ended unnoticed counts from when it was seen', async (t) => {
  const cache = setUp();
  cache.markDoubtful(['a']);
  t.equal(cache.aliveWithin('a', staleMs, 61_000, notified(500, 60_000)), undefined);
  t.equal(cache.aliveWithin('never-seen', staleMs, 0, notified(0, 60_000)), undefined);
});
