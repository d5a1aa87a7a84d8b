import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import Database from 'better-sqlite3';
import t, { type Test } from 'tap';
import { createSqliteSessions } from '../../src/stores/sqlite/sessions.ts';
import { newSession, startOfTime } from './fixtures.ts';
import { createSqliteSessionsUnderTest, temporaryFolder } from './sqlite-stores.ts';

const hourMs = 3_600_000;
const dayMs = 24 * hourMs;
const times = { idleLifetimeMs: 14 * dayMs, absoluteLifetimeMs: 90 * dayMs, reuseGraceMs: 30_000 };
const migrations = new URL('../../src/stores/sqlite/migrations/sessions/', import.meta.url);

/** A store with a session and a used value, pruned by a clock that was right. */
async function createUsed(t: Test) {
  const underTest = createSqliteSessionsUnderTest(t);
  const { store, advance } = underTest;
  await store.create(newSession('s'), times);
  const { expires } = (await store.find('s'))!;
  await store.consume('assertion', expires);
  await store.prune();
  await advance(600_000);
  return underTest;
}

t.test('sqlite: a clock that was ahead by up to a day has deleted nothing', async (t) => {
  const { store, advance, step, openSecond } = await createUsed(t);
  await store.create(newSession('brief'), { ...times, idleLifetimeMs: hourMs });
  await advance(13 * dayMs);
  step(dayMs);
  t.equal(await store.findLive('s'), undefined, 'it has ended by the clock');
  t.equal(await store.prune(), 1, 'the brief one alone');
  t.equal(await openSecond().prune(), 0, 'nor does a process that starts with such a clock');
  step(-dayMs);
  t.match(await store.present('s', 1, times), { outcome: 'current' });
  t.ok(await store.wasConsumed('assertion'));
});

t.test('sqlite: what has ended is deleted a day later', async (t) => {
  const { store, advance } = await createUsed(t);
  await advance(15 * dayMs - 600_001);
  t.equal(await store.prune(), 0);
  t.ok(await store.wasConsumed('assertion'));
  await advance(1);
  t.equal(await store.prune(), 1);
  t.notOk(await store.wasConsumed('assertion'));
});

t.test('sqlite: a file of a version that kept a confirmed time is taken over', async (t) => {
  const file = join(temporaryFolder(t), 'sessions.db');
  const before = new Database(file);
  const names = readdirSync(migrations).filter((name) => name < '009');
  for (const name of names.toSorted()) before.exec(readFileSync(new URL(name, migrations), 'utf8'));
  before.pragma(`application_id = ${0x50535453}`);
  before.pragma(`user_version = ${names.length}`);
  before.exec(`UPDATE clock SET confirmed = ${startOfTime}`);
  before.close();
  const store = createSqliteSessions(file, { now: () => startOfTime });
  t.teardown(() => store.close());
  await store.create(newSession('s'), times);
  t.equal(await store.prune(), 0);
  t.ok(await store.findLive('s'));
});
