import { mock } from 'node:test';
import t, { type Test } from 'tap';
import { createMemoryAttempts, type MemoryAttemptsOptions } from '../../src/stores/memory/attempts.ts';
import { type AttemptsUnderTest, runAttemptsSuite } from './attempts-suite.ts';

/** The limiter's clock is the process's own. */
function createWithClock(t: Test, options?: MemoryAttemptsOptions): AttemptsUnderTest {
  mock.timers.enable({ apis: ['Date', 'setTimeout'], now: 1 });
  t.teardown(() => mock.timers.reset());
  return { store: createMemoryAttempts(options), advance: (ms) => mock.timers.tick(ms) };
}

runAttemptsSuite({ name: 'memory', create: (t) => createWithClock(t) });

t.test('memory: a counter under attack outlives a spray of others', async (t) => {
  const { store } = createWithClock(t, { maxCounters: 100 });
  const victim = { key: 'victim', points: 3 };
  const answers = [];
  for (let round = 0; round < 5; round += 1) {
    answers.push((await store.count([victim], 60_000)).allowed);
    for (let index = 0; index < 90; index += 1)
      await store.count([{ key: `${round}-${index}`, points: 1 }], 60_000);
  }
  t.strictSame(answers, [true, true, true, false, false]);
  t.match(
    await store.count([{ key: '0-0', points: 1 }], 60_000),
    { allowed: true },
    'one at rest was dropped',
  );
});

t.test('memory: a window longer than a timer can wait still counts', async (t) => {
  const { store, advance } = createWithClock(t);
  const limit = { key: 'a', points: 1 };
  const month = 30 * 24 * 3_600_000;
  await store.count([limit], month);
  await advance(1_000);
  t.match(await store.count([limit], month), { allowed: false });
});
