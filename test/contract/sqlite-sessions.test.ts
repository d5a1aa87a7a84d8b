import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import Database from 'better-sqlite3';
import t from 'tap';
import { createSqliteSessions } from '../../src/stores/sqlite/sessions.ts';
import { runAttemptsSuite } from './attempts-suite.ts';
import { newSession, sessionTimes, startOfTime } from './fixtures.ts';
import { runProviderSessionsSuite } from './provider-sessions-suite.ts';
import { runSessionListsSuite } from './session-lists-suite.ts';
import { runSessionUsesSuite } from './session-uses-suite.ts';
import { runSessionsSuite } from './sessions-suite.ts';
import { runSingleUseSuite } from './single-use-suite.ts';
import { createSqliteSessionsUnderTest, temporaryFolder } from './sqlite-stores.ts';

runSessionListsSuite({ name: 'sqlite', create: createSqliteSessionsUnderTest });
runSessionsSuite({ name: 'sqlite', create: createSqliteSessionsUnderTest });
runProviderSessionsSuite({ name: 'sqlite', create: createSqliteSessionsUnderTest });
runSessionUsesSuite({ name: 'sqlite', create: createSqliteSessionsUnderTest });
runSingleUseSuite({ name: 'sqlite', create: createSqliteSessionsUnderTest });
runAttemptsSuite({ name: 'sqlite', create: createSqliteSessionsUnderTest });

t.test('sqlite: pruning deletes everything expired, even more than fits one transaction', async (t) => {
  const { store, advance } = createSqliteSessionsUnderTest(t);
  for (let index = 0; index < 501; index += 1) {
    await store.create(newSession(`${index}`), { ...sessionTimes, idleLifetimeMs: 10 });
  }
  await advance(10 + 86_399_999);
  t.equal(await store.prune(), 0, 'it is kept for a day');
  await advance(1);
  t.equal(await store.prune(), 501);
});

const migrations = new URL('../../src/stores/sqlite/migrations/sessions/', import.meta.url);

t.test('sqlite: sessions of the previous version continue, whichever cookie is held', async (t) => {
  const file = join(temporaryFolder(t), 'sessions.db');
  const before = new Database(file);
  t.teardown(() => before.close());
  for (const name of ['001-initial', '002-used-once'])
    before.exec(readFileSync(new URL(`${name}.sql`, migrations), 'utf8'));
  before.pragma('application_id = 0x50535453');
  before.pragma('user_version = 2');
  const insert = before.prepare(`INSERT INTO sessions VALUES
    (?, 'user-1', 'password', NULL, '192.0.2.1', 'test', ?, ?, ?, 5, ?, ?)`);
  const expires = startOfTime + sessionTimes.idleLifetimeMs;
  for (const id of ['seen', 'seen too'])
    insert.run(id, startOfTime, startOfTime, expires, startOfTime, startOfTime);
  for (const id of ['unseen', 'lost']) insert.run(id, startOfTime, startOfTime, expires, startOfTime, null);
  const rotatedBefore = before.prepare(
    'UPDATE sessions SET generation = generation + 1, issued = ?, presented = NULL WHERE id = ?',
  );

  let now = startOfTime;
  const store = createSqliteSessions(file, { now: () => now });
  t.teardown(() => store.close());
  const present = async (id: string, generation: number) => {
    const came = await store.present(id, generation, sessionTimes);
    return came.outcome === 'current' ? came.session.generation : came.outcome;
  };
  t.match(await store.find('seen'), { epoch: 0, provider: null, sealedIdToken: null, sealedClaims: null });
  t.equal(await present('seen', 4), 5);
  t.equal(await present('seen too', 5), 5);
  t.equal(await present('unseen', 5), 5);
  now += sessionTimes.reuseGraceMs;
  t.equal(await present('lost', 4), 6);
  t.equal(await present('seen too', 5), 6);
  now += sessionTimes.reuseGraceMs;
  t.equal(await present('lost', 4), 7);
  // A process of the previous version: it doesn't record which generation a cookie replaced.
  rotatedBefore.run(now, 'lost');
  t.equal(await present('lost', 7), 8);
  t.equal(await present('seen', 3), 'reused');
});

const attempt = { key: 'a', points: 1 };

t.test('sqlite: an expired window leaves nothing, even when there are many', async (t) => {
  const { store, advance } = createSqliteSessionsUnderTest(t);
  const limits = Array.from({ length: 1_001 }, (_, index) => ({ key: `${index}`, points: 1 }));
  await store.count(limits, 10);
  await store.count([attempt], 60_000);
  await advance(10);
  await store.prune();
  const again = await store.count([...limits, attempt], 10);
  t.match(again, { allowed: false }, 'the counter whose window continues is still there');
  t.match(await store.count(limits, 10), { allowed: true });
});

t.test('sqlite: a clock set back, and a shorter window, prolong no lock-out', async (t) => {
  const { store, advance } = createSqliteSessionsUnderTest(t);
  await store.count([attempt], 60_000);
  await advance(-3_600_000);
  t.strictSame(await store.count([attempt], 60_000), { allowed: false, retryAfterMs: 60_000 });
  t.strictSame(await store.count([attempt], 1_000), { allowed: false, retryAfterMs: 1_000 });
});

t.test('sqlite: many attempts at once wait for a few writes, each with its own outcome', async (t) => {
  const file = join(temporaryFolder(t), 'sessions.db');
  const store = createSqliteSessions(file, { now: () => startOfTime });
  t.teardown(() => store.close());
  const commits = () => {
    const reader = new Database(file, { readonly: true });
    const count = reader.prepare('SELECT count(*) FROM attempts').pluck().get();
    reader.close();
    return count;
  };
  const outcomes = Array.from({ length: 200 }, (_, index) =>
    store.count([{ key: `${index % 100}`, points: 1 }], 60_000),
  );
  await outcomes[0];
  t.equal(commits(), 50, 'the first fifty are in the same transaction');
  const allowed = (await Promise.all(outcomes)).map((outcome) => outcome.allowed);
  t.strictSame(allowed, [...Array(100).fill(true), ...Array(100).fill(false)]);
});
