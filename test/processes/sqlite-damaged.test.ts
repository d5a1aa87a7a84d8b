import { closeSync, openSync, readSync, writeSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import Database from 'better-sqlite3';
import t, { type Test } from 'tap';
import { createSqliteRecords } from '../../src/stores/sqlite/records.ts';
import { newUser, startOfTime } from '../contract/fixtures.ts';
import { temporaryFolder } from '../contract/sqlite-stores.ts';
import { createUser } from '../support/administration/record-changes.ts';
import { eventually } from '../support/eventually.ts';

/** Records in a file, all of whose pages are in the database itself. */
async function openRecords(t: Test) {
  const file = join(temporaryFolder(t), 'records.db');
  const outages: string[] = [];
  let returns = 0;
  const store = createSqliteRecords(file, {
    now: () => startOfTime,
    events: { onUnavailable: (reason) => outages.push(reason), onAvailable: () => returns++ },
  });
  t.teardown(() => store.close());
  for (let index = 0; index < 200; index++) {
    const id = `user-${index}`;
    await createUser(store, newUser(id, { email: `${id}-${'x'.repeat(500)}@example.com` }), id);
  }
  return { file, store, outages, returns: () => returns };
}

/** Overwrites the first page of the users; gives what puts it back. */
function damage(file: string): () => void {
  const db = new Database(file);
  db.pragma('wal_checkpoint(TRUNCATE)');
  const size = db.pragma('page_size', { simple: true }) as number;
  const root = db
    .prepare("SELECT rootpage FROM sqlite_schema WHERE tbl_name = 'users' AND type = 'table'")
    .pluck()
    .get() as number;
  const touch = () => db.pragma(`user_version = ${db.pragma('user_version', { simple: true })}`);
  const former = overwrite(file, (root - 1) * size, Buffer.alloc(size, 0xa5));
  // Every connection then reads pages anew.
  touch();
  return () => {
    overwrite(file, (root - 1) * size, former);
    touch();
    db.close();
  };
}

function overwrite(file: string, position: number, contents: Buffer): Buffer {
  const former = Buffer.alloc(contents.length);
  const descriptor = openSync(file, 'r+');
  readSync(descriptor, former, 0, former.length, position);
  writeSync(descriptor, contents, 0, contents.length, position);
  closeSync(descriptor);
  return former;
}

t.test('a page that can’t be read makes the store unavailable until it can', async (t) => {
  const { file, store, outages, returns } = await openRecords(t);
  const repair = damage(file);
  t.throws(() => store.findUser('user-7'), { code: 'store_unavailable' });
  t.throws(() => store.findUser('user-8'), { code: 'store_unavailable' });
  t.match(outages, [/^SQLITE_CORRUPT/]);
  t.equal(outages.length, 1, 'reported once');
  await t.rejects(store.ping(), { code: 'store_unavailable' }, 'though the ping reads another page');
  // Two attempts later it still is: that another page can be written says nothing about this one.
  await sleep(1_100);
  t.equal(returns(), 0);
  repair();
  await eventually('it can be read', () => returns() === 1);
  t.ok(await store.findUser('user-7'));
  await store.ping();
});

t.test('so does one that a write needs; what is tried again is undone', async (t) => {
  const { file, store, outages, returns } = await openRecords(t);
  const repair = damage(file);
  await t.rejects(createUser(store, newUser('late'), 'late'), { code: 'store_unavailable' });
  t.match(outages, [/^SQLITE_CORRUPT/]);
  repair();
  await eventually('it is available', () => returns() === 1);
  t.equal(await store.findUser('late'), undefined);
  await createUser(store, newUser('late'), 'late');
});
