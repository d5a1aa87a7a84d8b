import t, { type Test } from 'tap';
import { newSession } from './fixtures.ts';
import { createSqliteSessionsUnderTest } from './sqlite-stores.ts';

const hourMs = 3_600_000;
const dayMs = 24 * hourMs;
const times = { idleLifetimeMs: 14 * dayMs, absoluteLifetimeMs: 90 * dayMs, reuseGraceMs: 30_000 };
const attempt = { key: 'a', points: 1 };

/** A store with a session, a used value and a counter, pruned by a clock that was right. */
async function createUsed(t: Test) {
  const underTest = createSqliteSessionsUnderTest(t);
  const { store, advance } = underTest;
  await store.create(newSession('s'), times);
  const { expires } = (await store.find('s'))!;
  await store.consume('assertion', expires);
  await store.count([attempt], 14 * dayMs);
  await store.prune();
  await advance(600_000);
  return underTest;
}

t.test('sqlite: a clock that jumps ahead deletes nothing for a day', async (t) => {
  const { store, advance, step } = await createUsed(t);
  step(30 * dayMs);
  t.equal(await store.findLive('s'), undefined, 'it has ended by the clock');
  for (let hours = 0; hours < 24; hours += 1) {
    t.equal(await store.prune(), 0, `${hours} hours later`);
    await advance(hourMs);
  }
  step(-30 * dayMs);
  t.equal(await store.prune(), 0);
  t.match(await store.present('s', 1, times), { outcome: 'current' });
  t.ok(await store.wasConsumed('assertion'));
  t.match(await store.count([attempt], dayMs), { allowed: false });
});

t.test('sqlite: nor does a process that starts with such a clock', async (t) => {
  const { store, openSecond, advance, step } = await createUsed(t);
  step(30 * dayMs);
  // By the wrong clock: what is recorded last does not confirm it.
  await store.create(newSession('made meanwhile'), times);
  await store.close();
  const later = openSecond();
  t.equal(await later.prune(), 0);
  await advance(23 * hourMs);
  t.equal(await later.prune(), 0);
  step(-30 * dayMs);
  t.ok(await later.findLive('s'));
});

t.test('sqlite: one that goes on evenly for a day is believed', async (t) => {
  const { store, advance, step } = await createUsed(t);
  step(30 * dayMs);
  await store.prune();
  await advance(23 * hourMs);
  step(dayMs);
  t.equal(await store.prune(), 0);
  await advance(23 * hourMs);
  t.equal(await store.prune(), 0, 'the day begins with its last jump');
  await advance(hourMs);
  t.equal(await store.prune(), 1);
  t.notOk(await store.wasConsumed('assertion'));
});

t.test('sqlite: what expires while the clock is in doubt is deleted when its time has come', async (t) => {
  const { store, advance, step } = await createUsed(t);
  await store.create(newSession('brief'), { ...times, idleLifetimeMs: hourMs });
  step(30 * dayMs);
  t.equal(await store.prune(), 0);
  await advance(hourMs);
  t.equal(await store.prune(), 1);
});

t.test(
  'sqlite: a gateway that was stopped for a month deletes what ended meanwhile a day later',
  async (t) => {
    const { store, openSecond, advance } = await createUsed(t);
    await store.close();
    await advance(30 * dayMs);
    const later = openSecond();
    t.equal(await later.prune(), 0);
    await advance(dayMs);
    t.equal(await later.prune(), 1);
  },
);

t.test('sqlite: what one process has confirmed another need not', async (t) => {
  const { store, openSecond, advance } = await createUsed(t);
  const later = openSecond();
  await advance(hourMs);
  await store.prune();
  t.ok(later.certainNow() < store.certainNow(), 'it started ten minutes after the last confirmation');
  await later.prune();
  t.equal(later.certainNow(), store.certainNow());
});

t.test(
  'sqlite: the certain time follows a clock that is set back, and not one that jumps ahead',
  async (t) => {
    const { store, advance, step } = await createUsed(t);
    const before = store.certainNow();
    step(dayMs);
    await advance(1_000);
    t.equal(store.certainNow(), before + 1_000);
    step(-2 * dayMs);
    t.equal(store.certainNow(), before + 1_000 - dayMs);
  },
);
