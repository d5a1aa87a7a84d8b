import { join } from 'node:path';
import t, { type Test } from 'tap';
import { type AuditEntry, commandLine } from '../../src/log/log.ts';
import type { AuditDraft, AuditOf } from '../../src/stores/audit.ts';
import { type CopyEnd, copyRecords, type RunQuery } from '../../src/stores/sql/copy.ts';
import type { Value } from '../../src/stores/sql/steps.ts';
import { openSqliteCopySource, openSqliteCopyTarget } from '../../src/stores/sqlite/copy-end.ts';
import { createSqliteRecords } from '../../src/stores/sqlite/records.ts';
import { temporaryFolder } from '../contract/sqlite-stores.ts';
import { dumpOf, dumpWithoutCopies, fillRecords } from '../support/stores/filled-records.ts';

type Query = readonly [sql: string, values: readonly Value[]];
/** Alters a query that goes to the target. */
type Tamper = (sql: string, values: readonly Value[]) => Query;

/** Copies to a target whose queries are altered; gives what it then holds. */
async function copyWith(t: Test, tamper: Tamper) {
  const folder = temporaryFolder(t);
  const files = { source: join(folder, 'source.db'), target: join(folder, 'target.db') };
  await fillRecords(files.source);
  const source = openSqliteCopySource(files.source);
  const target = openSqliteCopyTarget(files.target, () => {});
  const tampered: CopyEnd = {
    ...target,
    transaction: (work) =>
      target.transaction((query: RunQuery) => work((sql, values = []) => query(...tamper(sql, values)))),
  };
  const written: AuditEntry[] = [];
  const audit: AuditOf<void> = {
    drafts: () => [copiedDraft],
    onWritten: (entries) => written.push(...entries),
    isForGateways: true,
  };
  const copied = await copyRecords(source, tampered, { onTable() {}, audit }, now).catch((error) => error);
  await Promise.all([source.close(), target.close()]);
  return { copied, written, ...files };
}

const now = Date.UTC(2026, 10, 22);
const copiedDraft: AuditDraft = {
  event: 'records_copied',
  outcome: 'success',
  actor: commandLine,
  subject: null,
  address: null,
  requestId: null,
};

const insertsInto = (table: string, sql: string) => sql.startsWith(`INSERT INTO ${table} `);
const rowOf = (values: readonly Value[], text: Value, instead: Value) =>
  values.map((value) => (value === text ? instead : value));

const tampers: readonly { name: string; table: string; tamper: Tamper }[] = [
  {
    name: 'a text that was changed',
    table: 'users',
    tamper: (sql, values) => [sql, insertsInto('users', sql) ? rowOf(values, 'Zoë', 'Zoe') : values],
  },
  {
    name: 'an empty text that became null',
    table: 'users',
    tamper: (sql, values) => [sql, insertsInto('users', sql) ? rowOf(values, '', null) : values],
  },
  {
    name: 'a byte that was changed',
    table: 'secrets',
    tamper: (sql, values) => [
      sql,
      insertsInto('secrets', sql) ? [values[0]!, Buffer.from([0, 255, 128, 10, 1])] : values,
    ],
  },
  {
    name: 'a number that lost its last digit',
    table: 'users',
    tamper: (sql, values) => [
      sql,
      insertsInto('users', sql) ? rowOf(values, Number.MAX_SAFE_INTEGER, 9_007_199_254_740_990) : values,
    ],
  },
  {
    name: 'a row that was lost',
    table: 'api_key_scope_sets',
    tamper: (sql, values) =>
      insertsInto('api_key_scope_sets', sql)
        ? [sql.replace(/, \(\?, \?\)$/, ''), values.slice(0, -2)]
        : [sql, values],
  },
];

for (const { name, table, tamper } of tampers) {
  t.test(`a copy is not committed with ${name}`, async (t) => {
    const { copied, written, target } = await copyWith(t, tamper);
    t.match(copied, { code: 'copy_differs', tables: [table] });
    t.strictSame(written, []);
    const kept = Object.entries(dumpOf(target)).filter(([, rows]) => rows.length > 0);
    const seeded = {
      bootstrap: ['{"id":1,"open":1,"token":null}'],
      tenant_epoch: ['{"id":1,"epoch":0}'],
      audit_state: ['{"id":1,"seq":0,"time":0,"dropped":0}'],
    };
    t.same(Object.fromEntries(kept), seeded, 'everything is as before');
  });
}

t.test('an unaltered copy is committed', async (t) => {
  const { copied, source, target } = await copyWith(t, (sql, values) => [sql, values]);
  t.strictSame(dumpWithoutCopies(target), dumpWithoutCopies(source));
  const counts = copied.map(({ table, rows }: { table: string; rows: number }) => [table, rows]);
  const rows = Object.entries(dumpOf(source)).map(([table, found]) => [table, found.length]);
  t.same(Object.fromEntries(counts), Object.fromEntries(rows), 'every table is counted');
});

t.test('a copy is audited in the records that were written, after everything that was copied', async (t) => {
  const { written, source, target } = await copyWith(t, (sql, values) => [sql, values]);
  const audited = async (file: string) => {
    const records = createSqliteRecords(file, { now: () => now });
    const query = { sortBy: 'time', sortOrder: 'desc', filters: [], from: undefined, size: 1 } as const;
    const { items, last } = await records.listAuditEvents(query);
    const left = (await records.takeCommandEvents()).map((line) => JSON.parse(line).event);
    await records.close();
    return { newest: items[0]!, last, left };
  };
  const [before, after] = [await audited(source), await audited(target)];
  const { id, time } = after.newest;
  t.match(after.newest, { seq: before.last + 1, event: 'records_copied', actor: commandLine, target: null });
  t.ok(time >= before.newest.time && time >= now, 'time never falls');
  t.match(written, [{ id, time, event: 'records_copied' }]);
  t.equal(after.last, before.last + 1);
  t.strictSame(after.left, [...before.left, 'records_copied'], 'for the log of the first gateway');
});

t.test('a copy whose event can’t be written is not made', async (t) => {
  const { copied, written, target } = await copyWith(t, (sql, values) => {
    if (values.includes('records_copied')) throw new Error('the disk is full');
    return [sql, values];
  });
  t.match(copied, { message: 'the disk is full' });
  t.strictSame(written, []);
  t.strictSame(dumpOf(target).users, []);
});
