import { copyFileSync, existsSync, renameSync, rmSync, statSync, symlinkSync } from 'node:fs';
import { join } from 'node:path';
import Database from 'better-sqlite3';
import t, { type Test } from 'tap';
import { problemOfDatabaseFile } from '../../src/stores/sqlite/inspect.ts';
import { keptLogBytes, type LogState } from '../../src/stores/sqlite/log-size.ts';
import { createSqliteRecords } from '../../src/stores/sqlite/records.ts';
import { createSqliteSessions } from '../../src/stores/sqlite/sessions.ts';
import { newSession, newUser, sessionTimes, startOfTime } from '../contract/fixtures.ts';
import { temporaryFolder } from '../contract/sqlite-stores.ts';
import { createUser, listUsers } from '../support/administration/record-changes.ts';
import { eventually } from '../support/eventually.ts';
import { spawnNode } from '../support/gateway/node-process.ts';

const now = () => startOfTime;
const userAgent = 'x'.repeat(50_000);

t.test('the log is small again by itself after a snapshot was held, with a warning meanwhile', async (t) => {
  const file = join(temporaryFolder(t), 'sessions.db');
  const held: LogState[] = [];
  let emptied = 0;
  const events = { onLogHeld: (state: LogState) => held.push(state), onLogEmptied: () => emptied++ };
  const store = createSqliteSessions(file, { now, events });
  t.teardown(() => store.close());
  const logBytes = () => statSync(`${file}-wal`).size;
  let made = 0;
  const write = async (count: number) => {
    for (let index = 0; index < count; index++)
      await store.create({ ...newSession(`${made++}`), userAgent }, sessionTimes);
  };
  await write(200);
  t.ok(logBytes() < 2 * keptLogBytes, `${logBytes()} bytes without a snapshot`);

  const reader = new Database(file, { readonly: true });
  reader.exec('BEGIN; SELECT count(*) FROM sessions');
  await write(400);
  t.ok(logBytes() > 4 * keptLogBytes, 'it can only grow');
  const [first] = await eventually('a warning', () => held.length > 0 && held);
  t.ok(first!.bytes >= 4 * keptLogBytes);
  await eventually('its age', () => store.logState().heldMs > 1_000);
  t.equal(held.length, 1, 'one warning, until it has doubled');
  t.equal(emptied, 0);

  reader.exec('COMMIT');
  await eventually('it is small, without another write', () => logBytes() <= keptLogBytes);
  await eventually('and that is told', () => emptied === 1);
  t.equal(store.logState().heldMs, 0);
  reader.close();
});

/** Records with one user, whose process was killed: the log with the second user is left. */
async function leaveLog(t: Test) {
  const folder = temporaryFolder(t);
  const file = join(folder, 'records.db');
  const backup = join(folder, 'backup.db');
  const program = `
    import { createSqliteRecords } from '${import.meta.dirname}/../../src/stores/sqlite/records.ts';
    import { createUser } from '${import.meta.dirname}/../support/administration/record-changes.ts';
    import { newUser } from '${import.meta.dirname}/../contract/fixtures.ts';
    const store = createSqliteRecords(${JSON.stringify(file)}, { now: () => ${startOfTime} });
    await createUser(store, newUser('1'), 'first');
    await store.backup(${JSON.stringify(backup)});
    await createUser(store, newUser('2'), 'second');
    process.kill(process.pid, 'SIGKILL');`;
  const child = spawnNode(['--input-type=module', '--eval', program], { stdio: 'inherit' });
  await new Promise((resolve) => child.once('exit', resolve));
  t.ok(statSync(`${file}-wal`).size > 0, 'a log is left');
  return { folder, file, backup };
}

const open = async (file: string) => {
  const store = createSqliteRecords(file, { now });
  const users = (await listUsers(store)).length;
  await store.close();
  return users;
};

t.test('a log that belongs to the file is taken, as after a kill', async (t) => {
  const { file } = await leaveLog(t);
  t.equal(problemOfDatabaseFile(file, 'records'), undefined);
  t.equal(await open(file), 2);
  t.notOk(existsSync(`${file}-wal`), 'and gone with the last one who closes the file');
});

t.test('a backup beside the log of the file that it replaces is refused', async (t) => {
  const { file, backup } = await leaveLog(t);
  copyFileSync(backup, file);
  const sentence = `has the write-ahead log of another file beside it (${file}-wal), as after a restore that left it behind; move it and ${file}-shm away`;
  t.equal(problemOfDatabaseFile(file, 'records'), sentence, 'as postern check says');
  t.throws(() => createSqliteRecords(file, { now }), { message: `${file}: ${sentence}` });
  t.throws(() => createSqliteRecords(file, { now }), { message: `${file}: ${sentence}` }, 'each time');
  for (const suffix of ['-wal', '-shm']) rmSync(file + suffix);
  t.equal(await open(file), 1, 'the backup');
});

t.test('and behind a symbolic link', async (t) => {
  const { folder, file, backup } = await leaveLog(t);
  copyFileSync(backup, file);
  const link = join(folder, 'link.db');
  symlinkSync(file, link);
  t.match(problemOfDatabaseFile(link, 'records'), /^has the write-ahead log of another file beside it/);
  t.throws(() => createSqliteRecords(link, { now }), { code: 'store_open_failed' });
});

t.test('so is a copy of a file that was closed', async (t) => {
  const { folder, file } = await leaveLog(t);
  const other = join(folder, 'closed.db');
  const store = createSqliteRecords(other, { now });
  await createUser(store, newUser('3'), 'third');
  await store.close();
  copyFileSync(other, file);
  t.throws(() => createSqliteRecords(file, { now }), { code: 'store_open_failed' });
});

t.test('a log without its file is refused, too: a new file would make nothing of it', async (t) => {
  const { file } = await leaveLog(t);
  renameSync(file, `${file}.moved`);
  const sentence = `is missing, but its write-ahead log exists (${file}-wal): put the file back, or move the log away`;
  t.equal(problemOfDatabaseFile(file, 'records'), sentence);
  t.throws(() => createSqliteRecords(file, { now }), { message: `${file}: ${sentence}` });
  renameSync(`${file}.moved`, file);
  t.equal(await open(file), 2);
});

t.test(
  'processes that open and close a file at the same time never take its log for another’s',
  async (t) => {
    const file = join(temporaryFolder(t), 'records.db');
    await open(file);
    const program = `
    import { createSqliteRecords } from '${import.meta.dirname}/../../src/stores/sqlite/records.ts';
    import { createUser } from '${import.meta.dirname}/../support/administration/record-changes.ts';
    import { newUser } from '${import.meta.dirname}/../contract/fixtures.ts';
    for (let round = 0; round < 25; round++) {
      const store = createSqliteRecords(${JSON.stringify(file)}, { now: () => ${startOfTime} });
      const id = \`\${process.pid}-\${round}\`;
      await createUser(store, newUser(id), id);
      await store.close();
    }`;
    const codes = await Promise.all(
      [1, 2, 3].map(async () => {
        const child = spawnNode(['--input-type=module', '--eval', program], { stdio: 'inherit' });
        return new Promise((resolve) => child.once('exit', resolve));
      }),
    );
    t.same(codes, [0, 0, 0]);
    t.equal(await open(file), 75);
  },
);
