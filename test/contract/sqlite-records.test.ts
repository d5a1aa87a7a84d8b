import { statSync } from 'node:fs';
import { join } from 'node:path';
import { setImmediate } from 'node:timers/promises';
import t from 'tap';
import type { Records } from '../../src/stores/records.ts';
import { createSqliteRecords } from '../../src/stores/sqlite/records.ts';
import { createUser, listUsers } from '../support/administration/record-changes.ts';
import { newUser, startOfTime } from './fixtures.ts';
import { runRecordsSuite } from './records-suite.ts';
import { createSqliteRecordsUnderTest, temporaryFolder } from './sqlite-stores.ts';

runRecordsSuite({ name: 'sqlite', create: createSqliteRecordsUnderTest });

t.test('sqlite: file and folder are private, and the side files too', async (t) => {
  const folder = join(temporaryFolder(t), 'new', 'data');
  const file = join(folder, 'records.db');
  const store = createSqliteRecords(file, { now: () => startOfTime });
  t.teardown(() => store.close());
  t.equal(statSync(folder).mode & 0o777, 0o700);
  for (const suffix of ['', '-wal', '-shm']) t.equal(statSync(file + suffix).mode & 0o777, 0o600, suffix);
});

t.test('sqlite: a backup taken during constant writes is a complete snapshot', async (t) => {
  const { store, openSecond } = createSqliteRecordsUnderTest(t);
  const second = openSecond();
  const email = 'x'.repeat(10_000);
  let written = 0;
  const write = (to: Records) => createUser(to, newUser(`${written}`, { email }), `${written++}`);
  while (written < 200) await write(store);

  const target = join(temporaryFolder(t), 'copy.db');
  let isDone = false;
  const backup = store.backup(target).then(() => {
    isDone = true;
  });
  for (; !isDone && written < 400; await setImmediate()) await write(second);
  t.ok(isDone, 'the copy is not restarted by each write');
  await backup;

  t.equal(statSync(target).mode & 0o777, 0o600);
  const copy = createSqliteRecords(target, { now: () => startOfTime });
  t.teardown(() => copy.close());
  const ids = (await listUsers(copy)).map(({ id }) => Number(id)).sort((a, b) => a - b);
  t.ok(ids.length >= 200);
  t.strictSame(ids, [...ids.keys()], 'no later write without an earlier one');
});

t.test('sqlite: a backup never overwrites a file', async (t) => {
  const { store, file } = createSqliteRecordsUnderTest(t);
  await t.rejects(store.backup(file), { code: 'EEXIST' });
  await t.rejects(store.backup(join(file, 'below')), { code: 'ENOTDIR' });
  t.strictSame(await listUsers(store), []);
});
