import t from 'tap';
import { MetricsRegistry } from '../../src/metrics/registry.ts';
import { ClockWatch } from '../../src/runtime/clock-watch.ts';
import type { ClockReading } from '../../src/stores/remote/server-clock.ts';

/** A watch over a clock and a store's, all in the hand of the test. */
function createWatch() {
  let now = 1_000_000;
  let elapsed = 0;
  /** Null: the store is unavailable. */
  let readings: readonly ClockReading[] | null = [];
  const lines: [string, object][] = [];
  const registry = new MetricsRegistry();
  const watch = new ClockWatch({
    clocks: [
      {
        store: 'records',
        async compare() {
          if (readings === null) throw new Error('unavailable');
          return readings;
        },
      },
    ],
    now: () => now,
    elapsed: () => elapsed,
    log: {
      info: (message, fields) => lines.push([message, fields ?? {}]),
      warn: (message, fields) => lines.push([message, fields ?? {}]),
    },
    registry,
  });
  return {
    watch,
    lines,
    compare: async (...next: readonly (readonly [aheadMs: number, uncertaintyMs: number])[]) => {
      readings = next.map(([aheadMs, uncertaintyMs]) => ({ aheadMs, uncertaintyMs }));
      await watch.compare();
    },
    lose: async () => {
      readings = null;
      await watch.compare();
    },
    pass: (ms: number) => {
      now += ms;
      elapsed += ms;
    },
    set: (ms: number) => {
      now += ms;
    },
    async metrics() {
      const text = await registry.text();
      return text.split('\n').filter((line) => line.startsWith('postern_clock_'));
    },
  };
}

const apart = "system clock differs from the store's clock";
const together = "system clock agrees with the store's clock again";

t.test('a difference is logged when it begins and when it is over', async (t) => {
  const { compare, lines } = createWatch();
  await compare([2_000, 0]);
  await compare([-2_500, 600]);
  t.strictSame(lines, [], 'as much as may be measured wrong');
  await compare([-2_500.4, 300.2]);
  await compare([9_000, 1]);
  t.strictSame(lines, [[apart, { store: 'records', system_clock_ahead_ms: -2_500, uncertainty_ms: 301 }]]);
  await compare([1_900, 200]);
  t.equal(lines.length, 1, 'it may still be as much');
  await compare([1_900, 100]);
  await compare([0, 1]);
  t.strictSame(lines.slice(1), [[together, { store: 'records' }]]);
});

t.test('the worst of several servers counts', async (t) => {
  const { compare, lines } = createWatch();
  await compare([1, 1], [-5_000, 1], [3, 1]);
  t.strictSame(lines, [[apart, { store: 'records', system_clock_ahead_ms: -5_000, uncertainty_ms: 1 }]]);
});

t.test('the difference is a metric, absent while the store is unavailable', async (t) => {
  const { compare, lose, metrics } = createWatch();
  const steps = ['ahead', 'back'].map((direction) => `postern_clock_steps_total{direction="${direction}"} 0`);
  t.strictSame(await metrics(), steps);
  await compare([-2_500, 20]);
  t.strictSame(await metrics(), [
    ...steps,
    'postern_clock_skew_seconds{store="records"} -2.5',
    'postern_clock_skew_uncertainty_seconds{store="records"} 0.02',
  ]);
  await lose();
  t.strictSame(await metrics(), steps);
});

t.test('a store that is unavailable for a while says nothing about its clock', async (t) => {
  const { compare, lose, lines } = createWatch();
  await compare([5_000, 1]);
  await lose();
  await compare([5_000, 1]);
  t.equal(lines.length, 1);
});

t.test('a clock that is set is noticed by the time that really passes', async (t) => {
  const { compare, pass, set, lines, metrics } = createWatch();
  pass(60_000);
  set(2_000);
  await compare();
  t.strictSame(lines, []);
  pass(60_000);
  set(-3_600_000);
  await compare();
  pass(60_000);
  await compare();
  set(2_001);
  await compare();
  t.strictSame(lines, [
    ['system clock jumped back: it was set', { jump_ms: 3_600_000 }],
    ['system clock jumped forward: it was set, or the machine was suspended', { jump_ms: 2_001 }],
  ]);
  t.strictSame(await metrics(), [
    'postern_clock_steps_total{direction="ahead"} 1',
    'postern_clock_steps_total{direction="back"} 1',
  ]);
});

t.test('a clock that was set ahead is in doubt for a day, and one that was set back is not', (t) => {
  const { watch, pass, set } = createWatch();
  t.ok(watch.isCertain());
  set(30 * 86_400_000);
  t.notOk(watch.isCertain(), 'noticed at once');
  pass(86_399_999);
  t.notOk(watch.isCertain());
  pass(1);
  t.ok(watch.isCertain());
  set(-30 * 86_400_000);
  t.ok(watch.isCertain());
  t.end();
});

t.test('the lead over the slowest clock of a store counts, as far as it is known', async (t) => {
  const { watch, compare, lose } = createWatch();
  t.equal(watch.leadMs(), 0);
  await compare([5_000, 1], [1, 1]);
  t.equal(watch.leadMs(), 5_000);
  await compare([-5_000, 1]);
  t.equal(watch.leadMs(), 0);
  await lose();
  t.equal(watch.leadMs(), 0);
});
