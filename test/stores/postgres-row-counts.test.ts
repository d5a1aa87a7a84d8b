import t, { type Test } from 'tap';
import { newUser } from '../contract/fixtures.ts';
import { accessTo, accessToNewSchema, openPostgresUnderTest } from '../contract/postgres-stores.ts';
import { eventually } from '../support/eventually.ts';
import { requirePostgres } from '../support/stores/postgres-programs.ts';
import { asSuperuser } from '../support/stores/postgres-query.ts';
import { type PostgresServer, startPostgres } from '../support/stores/postgres-server.ts';

const tables = ['users', 'api_keys', 'audit'] as const;

/** That the kept counts of a schema are those numbers of rows, by table. */
async function expectCounts(
  t: Test,
  server: PostgresServer,
  schema: string,
  expected: Readonly<Record<(typeof tables)[number], number>>,
  name: string,
): Promise<void> {
  const counts = tables.map((table) => `(SELECT count(*) FROM ${schema}.${table})::int AS ${table}`);
  const kept = tables.map(
    (table) => `(SELECT total FROM ${schema}.row_counts WHERE table_name = '${table}')::int AS ${table}`,
  );
  t.strictSame(await server.query(`SELECT ${counts.join(', ')}`), [expected], `${name}: rows`);
  t.strictSame(await server.query(`SELECT ${kept.join(', ')}`), [expected], `${name}: kept`);
}

const insertUsers = (schema: string, ids: readonly string[]) =>
  `INSERT INTO ${schema}.users (id, username, canonical_name, scopes, disabled, created)
    SELECT id, id, id, '[]', 0, 0 FROM unnest(ARRAY['${ids.join("', '")}']) id ON CONFLICT DO NOTHING`;
const insertEvents = (schema: string, count: number) =>
  `INSERT INTO ${schema}.audit (seq, id, time, event, outcome, actor_kind, is_probe, body)
    SELECT n, 'event ' || n, n, 'login_succeeded', 'success', 'session', 0, '{}' FROM generate_series(1, ${count}) n`;

if (requirePostgres(t)) {
  const server = await startPostgres(t);

  t.test('the counts are exact, whoever writes, and however many rows at once', async (t) => {
    const access = accessToNewSchema(server);
    await openPostgresUnderTest(t, access);
    const { schema } = access.address;
    await server.query(insertUsers(schema, ['a', 'b', 'c']));
    await server.query(insertUsers(schema, ['c', 'd']));
    await server.query(insertEvents(schema, 700));
    await expectCounts(t, server, schema, { users: 4, api_keys: 0, audit: 700 }, 'some were there already');
    await server.query(`DELETE FROM ${schema}.audit WHERE seq <= 500`);
    await server.query(`UPDATE ${schema}.users SET disabled = 1`);
    await server.query(`DELETE FROM ${schema}.users WHERE id IN ('a', 'nobody')`);
    await expectCounts(t, server, schema, { users: 3, api_keys: 0, audit: 200 }, 'some are deleted');
    await asSuperuser(server, async (client) => {
      await client.query('BEGIN');
      await client.query(`DELETE FROM ${schema}.users`);
      await client.query('ROLLBACK');
    });
    await server.query(`TRUNCATE ${schema}.audit`);
    await expectCounts(t, server, schema, { users: 3, api_keys: 0, audit: 0 }, 'rolled back, and truncated');
  });

  t.test('the counts of a schema that was renamed are its own', async (t) => {
    const access = accessToNewSchema(server);
    const { schema } = access.address;
    await openPostgresUnderTest(t, access);
    await server.query(`ALTER SCHEMA ${schema} RENAME TO renamed`);
    await openPostgresUnderTest(t, access);
    await server.query(insertUsers('renamed', ['a', 'b']));
    await expectCounts(t, server, 'renamed', { users: 2, api_keys: 0, audit: 0 }, 'the renamed one');
    await expectCounts(t, server, schema, { users: 0, api_keys: 0, audit: 0 }, 'the one with its name');
  });

  t.test('a role that only serves writes even before it has rights on the counts', async (t) => {
    const access = accessToNewSchema(server);
    const { schema } = access.address;
    await openPostgresUnderTest(t, access);
    await server.query(`CREATE ROLE serving LOGIN PASSWORD 'serving'`);
    await server.query(`GRANT USAGE ON SCHEMA ${schema} TO serving`);
    await server.query(`GRANT SELECT, INSERT, UPDATE, DELETE ON ALL TABLES IN SCHEMA ${schema} TO serving`);
    await server.query(`REVOKE ALL ON ${schema}.row_counts FROM serving`);
    const serving = { url: server.url.replace('postern:secret', 'serving:serving') };
    const store = await openPostgresUnderTest(t, accessTo(serving, schema));
    await store.activate(newUser('a'), 'a');
    await expectCounts(t, server, schema, { users: 1, api_keys: 0, audit: 0 }, 'one was made');
  });

  t.test('rows of an earlier store are counted, and rows being written then', async (t) => {
    const access = accessToNewSchema(server);
    const { schema } = access.address;
    await openPostgresUnderTest(t, access);
    await server.query(`DROP FUNCTION ${schema}.count_rows, ${schema}.count_no_rows CASCADE`);
    await server.query(`DROP TABLE ${schema}.row_counts`);
    await server.query(`ALTER TABLE ${schema}.signing_keys DROP COLUMN purpose, DROP COLUMN signs_from,
      DROP COLUMN retired, DROP COLUMN requested, DROP COLUMN lifetime`);
    await server.query(`ALTER TABLE ${schema}.api_keys DROP COLUMN origin`);
    await server.query(`ALTER TABLE ${schema}.identities DROP COLUMN provider`);
    await server.query(`DROP FUNCTION ${schema}.keep_key_prefixes CASCADE`);
    await server.query(`DROP TABLE ${schema}.api_key_prefixes`);
    await server.query(`DELETE FROM ${schema}.postern_migrations WHERE number >= 9`);
    await server.query(insertUsers(schema, ['a', 'b']));
    await server.query(insertEvents(schema, 3));
    await asSuperuser(server, async (client) => {
      await client.query('BEGIN');
      await client.query(insertUsers(schema, ['c']));
      const opened = openPostgresUnderTest(t, access);
      await eventually('the migration waits', async () => {
        const waiting = await server.query(
          `SELECT 1 FROM pg_stat_activity WHERE wait_event_type = 'Lock' AND query LIKE '%row_counts%'`,
        );
        return waiting.length > 0;
      });
      await client.query('COMMIT');
      await opened;
    });
    await expectCounts(t, server, schema, { users: 3, api_keys: 0, audit: 3 }, 'all were counted');
  });
}
