import t from 'tap';
import { openPostgresRecords } from '../../src/stores/postgres/records.ts';
import { StoreOpenError } from '../../src/stores/store-open-error.ts';
import { newUser, startOfTime } from '../contract/fixtures.ts';
import {
  accessTo,
  accessToNewSchema,
  openPostgresUnderTest,
  recordsLimits,
} from '../contract/postgres-stores.ts';
import { createUser, listUsers, removeUser } from '../support/administration/record-changes.ts';
import { eventually } from '../support/eventually.ts';
import { requirePostgres } from '../support/stores/postgres-programs.ts';
import { startPostgres } from '../support/stores/postgres-server.ts';

const now = () => startOfTime;

if (requirePostgres(t)) {
  const server = await startPostgres(t);

  t.test('five replicas that start at once on an empty database get one store', async (t) => {
    const access = accessToNewSchema(server);
    const stores = await Promise.all(Array.from({ length: 5 }, () => openPostgresUnderTest(t, access)));
    const secrets = await Promise.all(
      stores.map((store, index) => store.secret('cursor', new Uint8Array([index]))),
    );
    t.equal(new Set(secrets.map(([byte]) => byte)).size, 1);
    const migrations = await server.query(
      `SELECT number FROM ${access.address.schema}.postern_migrations ORDER BY number`,
    );
    t.strictSame(migrations, [
      { number: 1 },
      { number: 2 },
      { number: 3 },
      { number: 4 },
      { number: 5 },
      { number: 6 },
      { number: 7 },
      { number: 8 },
      { number: 9 },
      { number: 10 },
      { number: 11 },
      { number: 12 },
    ]);
  });

  t.test('a schema newer than this program is refused', async (t) => {
    const access = accessToNewSchema(server);
    await openPostgresUnderTest(t, access);
    await server.query(`INSERT INTO ${access.address.schema}.postern_migrations (number) VALUES (99)`);
    const refused = openPostgresRecords({ access, now, ...recordsLimits });
    await t.rejects(refused, StoreOpenError);
    await t.rejects(refused, { message: /schema version 99; this version of Postern supports up to 12/ });
    await t.rejects(refused, { message: /^postgres:\/\/127\.0\.0\.1:\d+\/postern\?schema=test_/ });
  });

  t.test('two schemas share nothing', async (t) => {
    const one = await openPostgresUnderTest(t, accessToNewSchema(server));
    const other = await openPostgresUnderTest(t, accessToNewSchema(server));
    await one.activate(newUser('a'), 'a');
    t.strictSame(await listUsers(other), []);
    t.match(await other.bootstrap(), { open: true });
    t.equal((await other.readPosition()).version, 0);
    await other.activate(newUser('a'), 'a');
    await removeUser(one, 'a');
    t.ok(await other.findUser('a'));
  });

  t.test('a role without the privilege to create schemas can use an existing one', async (t) => {
    await server.query(`CREATE ROLE guest LOGIN PASSWORD 'guest'`);
    await server.query('CREATE SCHEMA theirs AUTHORIZATION guest');
    await server.query('REVOKE CREATE ON DATABASE postern FROM PUBLIC');
    const guest = { url: server.url.replace('postern:secret', 'guest:guest') };
    const store = await openPostgresUnderTest(t, accessTo(guest, 'theirs'));
    await createUser(store, newUser('a'), 'a');
    await t.rejects(openPostgresRecords({ access: accessTo(guest, 'new'), now, ...recordsLimits }), {
      code: 'store_open_failed',
      reason: /permission denied/,
    });
  });

  t.test('the tables of another program are left alone', async (t) => {
    await server.query('CREATE SCHEMA others AUTHORIZATION postern');
    await server.query('CREATE TABLE others.users (name text)');
    const refused = openPostgresRecords({ access: accessTo(server, 'others'), now, ...recordsLimits });
    await t.rejects(refused, { code: 'store_open_failed', reason: /"users" already exists/ });
    const tables = await server.query(`SELECT tablename FROM pg_tables WHERE schemaname = 'others'`);
    t.strictSame(tables, [{ tablename: 'users' }]);
  });

  t.test('a wrong password is refused for good, and an unreachable server for now', async (t) => {
    const access = accessToNewSchema(server);
    await t.rejects(
      openPostgresRecords({ access: { ...access, password: 'wrong' }, now, ...recordsLimits }),
      {
        code: 'store_open_failed',
        message: /password authentication failed/,
      },
    );
    const nowhere = accessTo({ url: server.url.replace(`:${server.port}/`, ':1/') }, 'postern');
    await t.rejects(openPostgresRecords({ access: nowhere, now, ...recordsLimits }), {
      code: 'store_unavailable',
    });
  });

  t.test('a database in another encoding than UTF-8 is refused', async (t) => {
    // Only a copy of a database of this name may have another encoding.
    await eventually('it is unused', async () => {
      await server.query('CREATE DATABASE template0 TEMPLATE postern');
      return true;
    });
    await server.query(`CREATE DATABASE latin OWNER postern TEMPLATE template0 ENCODING 'LATIN1' LOCALE 'C'`);
    const access = accessTo({ url: server.url.replace(/postern$/, 'latin') }, 'postern');
    await t.rejects(openPostgresRecords({ access, now, ...recordsLimits }), { message: /encoding LATIN1/ });
  });
}
