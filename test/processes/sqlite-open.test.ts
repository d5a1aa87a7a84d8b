import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { chmodSync, mkdirSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { getuid } from 'node:process';
import Database from 'better-sqlite3';
import t from 'tap';
import { createSqliteRecords } from '../../src/stores/sqlite/records.ts';
import { createSqliteSessions } from '../../src/stores/sqlite/sessions.ts';
import { StoreOpenError } from '../../src/stores/store-open-error.ts';
import { newUser, startOfTime } from '../contract/fixtures.ts';
import { temporaryFolder } from '../contract/sqlite-stores.ts';
import { createUser, listUsers } from '../support/administration/record-changes.ts';
import { holdWriteLock } from '../support/stores/sqlite-lock-holder.ts';

const options = { now: () => startOfTime };
const rootReadsAnything = getuid?.() === 0 && 'root can read every file';

/** The error with which `open` refuses a file. */
function refusalOf(open: () => unknown): StoreOpenError {
  try {
    open();
  } catch (error) {
    if (error instanceof StoreOpenError) return error;
    throw error;
  }
  throw new Error('opened what it should refuse');
}

/** A records file with a user in it, closed. */
async function writeRecords(file: string): Promise<void> {
  const store = createSqliteRecords(file, options);
  for (let index = 0; index < 50; index += 1) {
    await createUser(store, newUser(`${index}`, { email: 'x'.repeat(500) }), `${index}`);
  }
  await store.close();
}

t.test('a text file is refused, named, and left as it is', async (t) => {
  const file = join(temporaryFolder(t), 'records.db');
  writeFileSync(file, 'not a database '.repeat(1_000));
  t.match(
    refusalOf(() => createSqliteRecords(file, options)),
    {
      file,
      message: `${file}: is corrupt or not an SQLite database`,
    },
  );
  t.match(readFileSync(file, 'utf8'), /^not a database/);
});

t.test('a file with corrupt pages is refused', async (t) => {
  const file = join(temporaryFolder(t), 'records.db');
  await writeRecords(file);
  const bytes = readFileSync(file);
  bytes.fill(0x5a, 4_096, bytes.length - 4_096);
  writeFileSync(file, bytes);
  t.match(
    refusalOf(() => createSqliteRecords(file, options)),
    { file, reason: /is corrupt/ },
  );
});

t.test('a newer schema is refused', async (t) => {
  const file = join(temporaryFolder(t), 'records.db');
  await writeRecords(file);
  const db = new Database(file);
  db.pragma('user_version = 99');
  db.close();
  t.match(
    refusalOf(() => createSqliteRecords(file, options)),
    {
      file,
      reason: /has schema version 99; this version of Postern supports up to \d+/,
    },
  );
});

t.test('a sessions file configured as records is refused, and the other way round', async (t) => {
  const folder = temporaryFolder(t);
  const records = join(folder, 'records.db');
  const sessions = join(folder, 'sessions.db');
  await writeRecords(records);
  await createSqliteSessions(sessions, options).close();
  t.match(
    refusalOf(() => createSqliteRecords(sessions, options)),
    {
      reason: 'holds sessions, not records',
    },
  );
  t.match(
    refusalOf(() => createSqliteSessions(records, options)),
    {
      reason: 'holds records, not sessions',
    },
  );
});

t.test("another program's database is refused before anything is written", async (t) => {
  const file = join(temporaryFolder(t), 'other.db');
  const db = new Database(file);
  db.exec('CREATE TABLE theirs (x)');
  db.close();
  const before = readFileSync(file);
  t.match(
    refusalOf(() => createSqliteRecords(file, options)),
    { reason: /belongs to another program/ },
  );
  t.ok(before.equals(readFileSync(file)));
});

t.test('a folder at the path of the file is refused', async (t) => {
  const file = join(temporaryFolder(t), 'records.db');
  mkdirSync(file);
  t.match(
    refusalOf(() => createSqliteRecords(file, options)),
    { file },
  );
});

t.test(
  'a folder or file without read or write permission is refused',
  { skip: rootReadsAnything },
  async (t) => {
    const folder = temporaryFolder(t);
    const file = join(folder, 'records.db');
    await writeRecords(file);
    chmodSync(file, 0o400);
    t.match(
      refusalOf(() => createSqliteRecords(file, options)),
      { file, reason: /EACCES/ },
    );
    chmodSync(file, 0o600);
    chmodSync(folder, 0o500);
    t.teardown(() => chmodSync(folder, 0o700));
    t.match(
      refusalOf(() => createSqliteRecords(file, options)),
      { file, reason: /EACCES/ },
    );
  },
);

t.test('a process that is second to a migration waits for it and finds it done', async (t) => {
  const file = join(temporaryFolder(t), 'records.db');
  const migration = new URL('../../src/stores/sqlite/migrations/records/001-initial.sql', import.meta.url);
  const marks = 'PRAGMA application_id = 0x50535452; PRAGMA user_version = 1;';
  await holdWriteLock(t, file, 300, readFileSync(migration, 'utf8') + marks);
  const store = createSqliteRecords(file, options);
  t.teardown(() => store.close());
  t.strictSame(await listUsers(store), []);
});

t.test('processes that start at the same time on a new file all get the same store', async (t) => {
  const file = join(temporaryFolder(t), 'data', 'records.db');
  const store = new URL('../../src/stores/sqlite/records.ts', import.meta.url);
  const program = `import { createSqliteRecords } from ${JSON.stringify(store.href)};
    const store = createSqliteRecords(${JSON.stringify(file)}, { now: Date.now });
    const secret = await store.secret('cursor', Uint8Array.of(process.pid & 255, process.pid >> 8));
    process.stdout.write(secret.join());
    await store.close();`;
  const responses = await Promise.all(
    Array.from({ length: 4 }, async () => {
      const child = spawn(process.execPath, ['--input-type=module', '-e', program], {
        stdio: ['ignore', 'pipe', 'inherit'],
      });
      let output = '';
      child.stdout.on('data', (chunk) => {
        output += chunk;
      });
      const [exitCode] = await once(child, 'close');
      t.equal(exitCode, 0);
      return output;
    }),
  );
  t.equal(new Set(responses).size, 1);
  t.match(responses[0], /^\d+,\d+$/);
});

for (const [what, open] of Object.entries({
  records: createSqliteRecords,
  sessions: createSqliteSessions,
})) {
  t.test(`${what} files that other users can read are narrowed, and reported`, async (t) => {
    const file = join(temporaryFolder(t), `${what}.db`);
    const inUse = open(file, options);
    const files = [file, `${file}-wal`, `${file}-shm`];
    for (const each of files) chmodSync(each, 0o664);
    const reported: string[] = [];
    const again = open(file, { ...options, onNarrowed: (name, mode) => reported.push(`${name} ${mode}`) });
    t.strictSame(
      reported,
      files.map((name) => `${name} 0664`),
    );
    for (const each of files) t.equal(statSync(each).mode & 0o777, 0o600, each);
    await again.close();
    await inUse.close();
  });

  t.test(
    `an empty ${what} file that other users can read gets no secrets before it is narrowed`,
    async (t) => {
      const file = join(temporaryFolder(t), `${what}.db`);
      writeFileSync(file, '', { mode: 0o644 });
      chmodSync(file, 0o644);
      const store = open(file, options);
      for (const each of [file, `${file}-wal`, `${file}-shm`])
        t.equal(statSync(each).mode & 0o777, 0o600, each);
      await store.close();
    },
  );
}

t.test('a file of another user that others can read is left as it is', async (t) => {
  const file = join(temporaryFolder(t), 'records.db');
  const db = new Database(file);
  db.exec('CREATE TABLE theirs (x)');
  db.close();
  chmodSync(file, 0o644);
  refusalOf(() => createSqliteRecords(file, options));
  t.equal(statSync(file).mode & 0o777, 0o644);
});

t.test(
  "a file that can't be narrowed is refused",
  { skip: getuid?.() !== 0 && 'only root can create files of another user' },
  async (t) => {
    const folder = temporaryFolder(t);
    const file = join(folder, 'records.db');
    await createSqliteRecords(file, options).close();
    chmodSync(folder, 0o777);
    chmodSync(file, 0o666);
    const script = `import { createSqliteRecords } from ${JSON.stringify(new URL('../../src/stores/sqlite/records.ts', import.meta.url).href)};
      process.setuid(65534);
      try { createSqliteRecords(${JSON.stringify(file)}, { now: Date.now }); } catch (error) { console.log(error.message); }`;
    const child = spawn(process.execPath, ['--input-type=module', '-e', script]);
    let said = '';
    child.stdout.on('data', (text) => {
      said += text;
    });
    await once(child, 'close');
    t.equal(
      said,
      `${file}: is accessible to other users (mode 0666), and the mode can't be changed (EPERM)\n`,
    );
  },
);
