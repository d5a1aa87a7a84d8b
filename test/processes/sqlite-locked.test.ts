import { once } from 'node:events';
import { monitorEventLoopDelay } from 'node:perf_hooks';
import { setTimeout as sleep } from 'node:timers/promises';
import t, { type Test } from 'tap';
import { newUser } from '../contract/fixtures.ts';
import { createSqliteRecordsUnderTest, createSqliteSessionsUnderTest } from '../contract/sqlite-stores.ts';
import { createUser, listUsers } from '../support/administration/record-changes.ts';
import { isLong } from '../support/gateway/gateway-under-load.ts';
import { holdWriteLock } from '../support/stores/sqlite-lock-holder.ts';

/** The promised 50 ms, plus a margin for other work of the machine. */
const longestBlockMs = 100;

/**
 * The event loop runs on while `work` runs, which takes more than `minTurns` turns; in the long run no turn is long.
 */
async function judgeTurns(t: Test, minTurns: number, work: () => Promise<unknown>): Promise<void> {
  let turns = 0;
  const counter = setInterval(() => {
    turns += 1;
  }, 0);
  const delay = monitorEventLoopDelay({ resolution: 1 });
  delay.enable();
  // A block is recorded by the timer after it, against the timer before it.
  if (isLong) await sleep(10);
  turns = 0;
  await work();
  const turnsMeanwhile = turns;
  if (isLong) await sleep(10);
  delay.disable();
  clearInterval(counter);
  t.ok(turnsMeanwhile >= minTurns, `${turnsMeanwhile} turns`);
  const blockedMs = delay.max / 1e6;
  if (isLong) t.ok(blockedMs < longestBlockMs, `blocked for ${blockedMs} ms`);
}

t.test('the wait for a lock held elsewhere for 300 ms does not block', async (t) => {
  const { store, file } = createSqliteRecordsUnderTest(t);
  const holder = await holdWriteLock(t, file, 60_000);
  await judgeTurns(t, 20, async () => {
    let written = 0;
    const writes = Array.from({ length: 20 }, async (_, index) => {
      await createUser(store, newUser(`${index}`), `${index}`);
      written += 1;
    });
    t.strictSame(await listUsers(store), [], 'reads continue');
    await sleep(300);
    t.equal(written, 0, 'the lock is met');
    holder.kill('SIGKILL');
    await Promise.all(writes);
  });
  t.equal((await listUsers(store)).length, 20);
});

t.test('a lock held for good is given up after two seconds, by all waiting calls', async (t) => {
  const { store, file } = createSqliteRecordsUnderTest(t);
  const holder = await holdWriteLock(t, file, 60_000);
  const start = performance.now();
  await judgeTurns(t, 100, async () => {
    const writes = Array.from({ length: 50 }, (_, index) =>
      createUser(store, newUser(`${index}`), `${index}`),
    );
    for (const response of await Promise.allSettled(writes)) {
      if (response.status === 'fulfilled') throw new Error('written under a lock');
      t.equal(response.reason.code, 'store_unavailable');
    }
  });
  const waitedMs = performance.now() - start;
  t.ok(waitedMs > 1_900, `waited ${waitedMs} ms`);
  if (isLong) t.ok(waitedMs < 3_000, 'and no longer');

  holder.kill('SIGKILL');
  await once(holder, 'exit');
  t.strictSame(await listUsers(store), [], 'nothing of the refused writes is stored');
  await createUser(store, newUser('later'), 'later');
  t.equal((await listUsers(store)).length, 1);
});

t.test('attempts that a lock refused refuse no later ones', async (t) => {
  const { store, file } = createSqliteSessionsUnderTest(t);
  const holder = await holdWriteLock(t, file, 60_000);
  const count = () => store.count([{ key: 'address', points: 9 }], 60_000);
  await t.rejects(Promise.all([count(), count()]), { code: 'store_unavailable' });
  holder.kill('SIGKILL');
  await once(holder, 'exit');
  t.strictSame(await Promise.all([count(), count()]), [{ allowed: true }, { allowed: true }]);
});

t.test('many writes leave turns of the event loop to other work', async (t) => {
  const { store } = createSqliteRecordsUnderTest(t);
  await judgeTurns(t, 5, () => {
    const users = Array.from({ length: 100 }, (_, index) => newUser(`${index}`));
    return Promise.all(users.map((user, index) => createUser(store, user, `${index}`)));
  });
});

t.test('recording many uses leaves turns of the event loop to other work', async (t) => {
  const { store } = createSqliteRecordsUnderTest(t);
  const keys = new Map(Array.from({ length: 100_000 }, (_, index) => [`${index}`, index]));
  await judgeTurns(t, 50, () => store.noteUse(keys));
});
