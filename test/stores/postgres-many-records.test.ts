import { randomUUID } from 'node:crypto';
import { readFileSync } from 'node:fs';
import t, { type Test } from 'tap';
import type { PostgresRecords } from '../../src/stores/postgres/records.ts';
import type { Records } from '../../src/stores/records.ts';
import { hashOf, newKey, newUser, startOfTime } from '../contract/fixtures.ts';
import {
  type CpuMeter,
  judgeExact,
  judgePages,
  manyCount,
  ownCpu,
  type Rows,
} from '../contract/many-records.ts';
import { manyEvents, manyKeys, manyUsers } from '../contract/many-tables.ts';
import { accessToNewSchema, openPostgresUnderTest } from '../contract/postgres-stores.ts';
import { createApiKey, createUser } from '../support/administration/record-changes.ts';
import { isLong } from '../support/gateway/gateway-under-load.ts';
import { requirePostgres } from '../support/stores/postgres-programs.ts';
import { type PostgresServer, startPostgres } from '../support/stores/postgres-server.ts';

const timeout = isLong ? 1_800_000 : 600_000;
t.setTimeout(timeout);
const rowsAtOnce = 5_000;

interface Place {
  readonly store: Records;
  readonly spent: CpuMeter;
}

/** A store with those rows, as one that has been in use for a while: its server knows what is in the tables. */
async function openFilled(t: Test, server: PostgresServer, rows: Rows): Promise<Place> {
  const access = accessToNewSchema(server);
  // One connection reads.
  const store = await openPostgresUnderTest(t, access, { maxConnections: 2 });
  const { schema } = access.address;
  for (const [table, all] of Object.entries(rows)) {
    const columns = Object.keys(all[0]!).join(', ');
    const insert = `INSERT INTO ${schema}.${table} (${columns})
      SELECT ${columns} FROM json_populate_recordset(NULL::${schema}.${table}, $1)`;
    for (let from = 0; from < all.length; from += rowsAtOnce)
      await server.query(insert, [JSON.stringify(all.slice(from, from + rowsAtOnce))]);
  }
  await server.query(
    `UPDATE ${schema}.audit_state SET seq = ${manyCount}, time = ${startOfTime + manyCount}`,
  );
  await server.query('VACUUM ANALYZE');
  return { store: { ...store, version: () => 0 }, spent: await meterOf(store, server) };
}

/** Of this process, and of those of the server that serve its calls; the workers they may start end with a query. */
async function meterOf(store: PostgresRecords, server: PostgresServer): Promise<CpuMeter> {
  await store.ping();
  const backends = await server.query<{ pid: number }>(
    `SELECT pid FROM pg_stat_activity WHERE application_name = 'postern'`,
  );
  const files = backends.map(({ pid }) => `/proc/${pid}/schedstat`);
  // Nanoseconds on a processor.
  const theirs = () => files.reduce((sum, file) => sum + Number(readFileSync(file, 'utf8').split(' ')[0]), 0);
  return () => ownCpu() + theirs() / 1e6 + endedWorkersMs(server.pid!);
}

/** What the children of a process that have ended took, ms (resolution 10 ms). */
function endedWorkersMs(pid: number): number {
  const stat = readFileSync(`/proc/${pid}/stat`, 'utf8');
  const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ');
  return (Number(fields[13]) + Number(fields[14])) * 10;
}

t.test(`pages of ${manyCount} records in PostgreSQL are exact, and cheap`, { timeout }, async (t) => {
  if (!requirePostgres(t)) return;
  // As much as PostgreSQL has by default: with less, every page costs reads from its files.
  const server = await startPostgres(t, { config: ['shared_buffers = 128MB'] });
  let made = 0;

  await t.test('API keys', { timeout }, async (t) => {
    const many = manyKeys();
    const { store, spent } = await openFilled(t, server, many.rows);
    await judgePages(t, store, many, spent);
    for (const name of ['by created, all', 'by label, all', 'by expires, all']) {
      const each = many.cases.find((found) => found.name === name)!;
      await judgeExact(t, store, each, async (page) => {
        made += 1;
        const id = randomUUID();
        const fields = { label: `key ${String(made).padStart(6, '0')}`, createdBy: 'user-000001' };
        await createApiKey(store, newKey(id, { ...fields, created: startOfTime + made }), hashOf(id));
        const gone = many.cases[0]!.expected[(page * 7_907) % manyCount]!.id;
        await store.deleteApiKey(gone, { children: false });
        return { gone };
      });
    }
  });

  await t.test('users', { timeout }, async (t) => {
    const many = manyUsers();
    const { store, spent } = await openFilled(t, server, many.rows);
    await judgePages(t, store, many, spent);
    for (const name of ['by created, all', 'by username, all']) {
      const each = many.cases.find((found) => found.name === name)!;
      await judgeExact(t, store, each, async (page) => {
        made += 1;
        const user = newUser(`new-${made}`, { username: `Name ${page}`, created: startOfTime + page });
        await createUser(store, user, `new ${made}`);
        return {};
      });
    }
  });

  await t.test('audit events', { timeout }, async (t) => {
    const many = manyEvents();
    const { store, spent } = await openFilled(t, server, many.rows);
    await judgePages(t, store, many, spent);
    await judgeExact(t, store, many.cases[0]!, async (page) => {
      await createUser(store, newUser(`new-${page}`), `new-${page}`);
      await store.pruneAuditEvents({ since: 0, maxEvents: manyCount });
      return {};
    });
  });
});
