import t from 'tap';
import { CachedDocument } from '../../src/identity-providers/cached-document.ts';

const second = 1_000;
const hour = 3_600_000;

/** A document that is its own count of loads; while `away` is set, loading fails. */
function setUp(t: { equal(a: unknown, b: unknown): void }) {
  const state = { now: 1_000_000, loads: 0, failures: 0, away: false };
  const document = new CachedDocument({
    load: async () => {
      state.loads += 1;
      await new Promise((resolve) => setImmediate(resolve));
      if (state.away) throw new Error('away');
      return state.loads;
    },
    now: () => state.now,
    onFailure: () => {
      state.failures += 1;
    },
  });
  const expectLoads = (count: number) => t.equal(state.loads, count);
  return { state, document, expectLoads };
}

t.test('parallel readers share one load', async (t) => {
  const { document, expectLoads } = setUp(t);
  t.strictSame(await Promise.all([document.get(), document.get(), document.get()]), [1, 1, 1]);
  expectLoads(1);
});

t.test('a fresh copy is used, an aged one is renewed first', async (t) => {
  const { state, document, expectLoads } = setUp(t);
  await document.get();
  state.now += hour - 1;
  t.equal(await document.get(), 1);
  expectLoads(1);
  state.now += 1;
  t.strictSame(await Promise.all([document.get(), document.get()]), [2, 2], 'nobody gets the old one');
  t.equal(await document.get(), 2);
  expectLoads(2);
});

t.test('a copy unused for a day is renewed before its next use', async (t) => {
  const { state, document } = setUp(t);
  await document.get();
  state.now += 23.9 * hour;
  t.equal(await document.get(), 2);
});

t.test(
  'while the provider is unavailable the copy is used for a day, and asked for every 30 s',
  async (t) => {
    const { state, document, expectLoads } = setUp(t);
    await document.get();
    state.away = true;
    state.now += hour;
    for (let reads = 0; reads < 50; reads += 1) t.equal(await document.get(), 1);
    expectLoads(2);
    state.now += 30 * second;
    t.equal(await document.get(), 1);
    expectLoads(3);
    t.equal(state.failures, 2);
    state.now += 23 * hour - 30 * second - 1;
    t.equal(await document.get(), 1, 'the last millisecond of the day');
    state.now += 1;
    await t.rejects(document.get(), { message: 'away' });
  },
);

t.test('a failure is remembered for half a second from its end', async (t) => {
  const { state, document, expectLoads } = setUp(t);
  state.away = true;
  const first = document.get();
  state.now += 5 * second;
  await t.rejects(first, { message: 'away' });
  await t.rejects(document.get(), { message: 'away' });
  state.now += second / 2 - 1;
  await t.rejects(document.get(), { message: 'away' });
  expectLoads(1);
  state.now += 1;
  state.away = false;
  t.equal(await document.get(), 2);
});

t.test('a missing entry causes a renewal at once, then once in 30 s over all callers', async (t) => {
  const { state, document, expectLoads } = setUp(t);
  const first = await document.get();
  t.strictSame(
    await Promise.all([document.renew(first), document.renew(first)]),
    [2, 2],
    'just loaded or not',
  );
  for (let asked = 0; asked < 1000; asked += 1) t.equal(await document.renew(2), 2);
  state.now += 30 * second - 1;
  t.equal(await document.renew(2), 2);
  expectLoads(2);
  state.now += 1;
  t.strictSame(await Promise.all([document.renew(2), document.renew(2)]), [3, 3]);
  t.equal(await document.renew(2), 3, 'a caller that saw an older copy gets the current one');
  expectLoads(3);
});

t.test('a failed renewal is reported, and not retried any sooner', async (t) => {
  const { state, document, expectLoads } = setUp(t);
  await document.get();
  state.away = true;
  for (let asked = 0; asked < 10; asked += 1) await t.rejects(document.renew(1), { message: 'away' });
  t.equal(await document.get(), 1, 'the copy is still usable');
  expectLoads(2);
  state.away = false;
  state.now += 30 * second;
  t.equal(await document.renew(1), 3);
});

t.test('a clock that was set back delays nothing', async (t) => {
  const { state, document } = setUp(t);
  await document.get();
  await document.renew(1);
  state.now -= 10 * hour;
  t.equal(await document.get(), 3);
  t.equal(await document.renew(3), 4);
});
