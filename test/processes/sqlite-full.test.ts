import { spawnSync } from 'node:child_process';
import { mkdirSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import t, { type Test } from 'tap';
import { createConnection } from '../../src/stores/sqlite/connection.ts';
import { openDatabase } from '../../src/stores/sqlite/open.ts';
import { createSqliteRecords } from '../../src/stores/sqlite/records.ts';
import { createSqliteSessions } from '../../src/stores/sqlite/sessions.ts';
import { newSession, newUser, sessionTimes, startOfTime } from '../contract/fixtures.ts';
import { temporaryFolder } from '../contract/sqlite-stores.ts';
import { createUser, listUsers } from '../support/administration/record-changes.ts';

const now = () => startOfTime;
const big = { email: 'x'.repeat(50_000) };

/** Mounts a file system of one megabyte on `folder`; false where that isn't allowed. */
function mountSmallDisk(folder: string): boolean {
  mkdirSync(folder);
  return spawnSync('mount', ['-t', 'tmpfs', '-o', 'size=1m', 'tmpfs', folder]).status === 0;
}

function unmount(folder: string): void {
  spawnSync('umount', ['-l', folder]);
}

function mayMount(): boolean {
  const folder = join(temporaryFolder(t), 'disk');
  const isMounted = mountSmallDisk(folder);
  if (isMounted) unmount(folder);
  return isMounted;
}

/** The folder of a small disk for the test alone. */
function smallDisk(t: Test): string {
  const folder = join(temporaryFolder(t), 'disk');
  t.teardown(() => unmount(folder));
  mountSmallDisk(folder);
  return folder;
}

const skip = !mayMount() && 'mounting a small disk is not allowed here';

t.test('a database that may not grow refuses writes and keeps what it has', async (t) => {
  const db = openDatabase(join(temporaryFolder(t), 'records.db'), 'records');
  const { read, write, close } = createConnection(db);
  t.teardown(close);
  const insert = db.prepare('INSERT INTO secrets (name, value) VALUES (?, ?)');
  const count = db.prepare('SELECT count(*) FROM secrets').pluck();
  await write(() => insert.run('first', Buffer.alloc(10)));
  db.pragma(`max_page_count = ${db.pragma('page_count', { simple: true })}`);
  const step = () => {
    insert.run('small', Buffer.alloc(10));
    insert.run('large', Buffer.alloc(50_000));
  };
  await t.rejects(write(step), { code: 'store_unavailable', options: { cause: { code: 'SQLITE_FULL' } } });
  t.equal(
    read(() => count.get()),
    1,
    'not even the first half is stored',
  );
  await write(() => insert.run('second', Buffer.alloc(10)));
});

t.test('a full disk refuses writes, keeps what was acknowledged, and recovers', { skip }, async (t) => {
  const disk = smallDisk(t);
  const file = join(disk, 'records.db');
  const store = createSqliteRecords(file, { now });
  const ballast = join(disk, 'ballast');
  writeFileSync(ballast, Buffer.alloc(300_000));

  let written = 0;
  const fill = async () => {
    for (; written < 100; written += 1) {
      const id = String(written).padStart(3, '0');
      await createUser(store, newUser(id, big), id);
    }
  };
  await t.rejects(fill(), { code: 'store_unavailable', options: { cause: { name: 'SqliteError' } } });
  t.ok(written > 0);
  const version = store.version();
  const refused = String(written).padStart(3, '0');
  t.equal(await store.findUser(refused), undefined, 'nothing half-done');
  t.equal((await listUsers(store)).length, written, 'reads continue');

  rmSync(ballast);
  await createUser(store, newUser(refused, big), refused);
  t.not(store.version(), version);
  await store.close();
  const reopened = createSqliteRecords(file, { now });
  t.equal((await listUsers(reopened)).length, written + 1);
  await reopened.close();
});

t.test('a full disk ends no session', { skip }, async (t) => {
  const disk = smallDisk(t);
  let at = startOfTime;
  const store = createSqliteSessions(join(disk, 'sessions.db'), { now: () => at });
  t.teardown(() => store.close());
  const userAgent = 'x'.repeat(50_000);
  await store.create(newSession('first'), sessionTimes);
  const fill = async () => {
    for (let index = 0; index < 100; index += 1) {
      await store.create({ ...newSession(`${index}`), userAgent }, sessionTimes);
    }
  };
  await t.rejects(fill(), { code: 'store_unavailable' });
  at += sessionTimes.reuseGraceMs;
  // The refresh may fit or not; either way the session continues.
  await store.present('first', 1, sessionTimes).catch((error) => t.equal(error.code, 'store_unavailable'));
  t.match(await store.findLive('first'), { id: 'first' });
});
