import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import Database from 'better-sqlite3';
import t from 'tap';
import { createRecordSeals } from '../../src/stores/record-seals.ts';
import { createSqliteRecords } from '../../src/stores/sqlite/records.ts';
import { startOfTime } from './fixtures.ts';
import { runSealedSuite } from './sealed-suite.ts';
import { temporaryFolder } from './sqlite-stores.ts';

const seals = createRecordSeals('acme', [{ id: 'k1', key: Buffer.alloc(32, 7) }]);

runSealedSuite('sqlite', async (t) => {
  const file = join(temporaryFolder(t), 'records.db');
  return {
    open: async (seals) => createSqliteRecords(file, { now: () => startOfTime, ...(seals && { seals }) }),
    dump: async () =>
      Buffer.concat(
        [file, `${file}-wal`].map((part) => (existsSync(part) ? readFileSync(part) : Buffer.of())),
      ),
  };
});

t.test('a file that another process reads is written anew at the next opening', async (t) => {
  const file = join(temporaryFolder(t), 'records.db');
  const before = createSqliteRecords(file, { now: () => startOfTime });
  await before.secret('cursor', Buffer.from('geheim, und lang genug, um aufzufallen'));
  const reader = new Database(file);
  reader.exec('BEGIN; SELECT * FROM secrets');
  await before.close();
  const opened = createSqliteRecords(file, { now: () => startOfTime, seals });
  t.strictSame(await opened.sealAll(), { isRewritten: true, isRemaining: true });
  reader.close();
  t.strictSame(await opened.sealAll(), { isRewritten: false, isRemaining: false });
  for (const part of [file, `${file}-wal`]) t.notMatch(readFileSync(part, 'latin1'), /geheim/);
  await opened.close();
});
