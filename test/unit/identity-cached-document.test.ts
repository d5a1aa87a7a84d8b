import t from 'tap';
import { createCachedDocument } from '../../src/identity-providers/cached-document.ts';

const second = 1_000;
const hour = 3_600_000;

/** A document that is its own count of loads; while `away` is set, loading fails. */
function setUp(t: { equal(a: unknown, b: unknown): void }) {
  const state = { now: 1_000_000, loads: 0, failures: 0, away: false };
  const document = createCachedDocument({
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
  const settle = async () => {
    for (let turn = 0; turn < 4; turn += 1) await new Promise((resolve) => setImmediate(resolve));
  };
  const expectLoads = (count: number) => t.equal(state.loads, count);
  return { state, document, settle, expectLoads };
}

t.test('parallel readers share one load', async (t) => {
  const { document, expectLoads } = setUp(t);
  t.strictSame(await Promise.all([document.get(), document.get(), document.renew()]), [1, 1, 1]);
  expectLoads(1);
});

t.test('a fresh copy is used, an ageing one renewed behind its readers', async (t) => {
  const { state, document, settle, expectLoads } = setUp(t);
  await document.get();
  state.now += hour - 1;
  t.equal(await document.get(), 1);
  expectLoads(1);
  state.now += 1;
  t.equal(await document.get(), 1, 'nobody waits');
  await settle();
  t.equal(await document.get(), 2);
  expectLoads(2);
});

t.test('while the provider is away the copy is used for a day, and asked for every 30 s', async (t) => {
  const { state, document, settle, expectLoads } = setUp(t);
  await document.get();
  state.away = true;
  state.now += hour;
  for (let reads = 0; reads < 50; reads += 1) {
    t.equal(await document.get(), 1);
    await settle();
  }
  expectLoads(2);
  state.now += 30 * second;
  t.equal(await document.get(), 1);
  await settle();
  expectLoads(3);
  t.equal(state.failures, 2);
  state.now += 23 * hour - 30 * second - 1;
  t.equal(await document.get(), 1, 'the last millisecond of the day');
  await settle();
  state.now += 1;
  await t.rejects(document.get(), { message: 'away' });
});

t.test('a failure is remembered for five seconds from its end', async (t) => {
  const { state, document, expectLoads } = setUp(t);
  state.away = true;
  const first = document.get();
  state.now += 5 * second;
  await t.rejects(first, { message: 'away' });
  await t.rejects(document.get(), { message: 'away' });
  state.now += 5 * second - 1;
  await t.rejects(document.get(), { message: 'away' });
  await t.rejects(document.renew(), { message: 'away' });
  expectLoads(1);
  state.now += 1;
  state.away = false;
  t.equal(await document.get(), 2);
});

t.test('renewing is bounded whoever asks', async (t) => {
  const { state, document, expectLoads } = setUp(t);
  await document.get();
  t.equal(await document.renew(), 1, 'just loaded');
  state.now += 30 * second;
  t.strictSame(await Promise.all([document.renew(), document.renew()]), [2, 2]);
  for (let asked = 0; asked < 1000; asked += 1) await document.renew();
  expectLoads(2);
});

t.test('what can not be renewed is answered with the copy', async (t) => {
  const { state, document, expectLoads } = setUp(t);
  await document.get();
  state.away = true;
  state.now += 30 * second;
  t.equal(await document.renew(), 1);
  t.equal(await document.renew(), 1);
  expectLoads(2);
});

t.test('a clock that was set back holds nothing up', async (t) => {
  const { state, document } = setUp(t);
  await document.get();
  state.now -= 10 * hour;
  t.equal(await document.renew(), 2);
});
