import t, { type Test } from 'tap';
import type { ChangeFeed, RecordsChange } from '../../src/stores/change-feed.ts';
import { changeChannel } from '../../src/stores/postgres/changes.ts';
import type { PostgresAccess } from '../../src/stores/postgres/client-config.ts';
import { listenForChanges } from '../../src/stores/postgres/listen.ts';
import {
  createPostgresClient,
  listenerName,
  type PostgresRecords,
} from '../../src/stores/postgres/records.ts';
import { eventually } from '../support/eventually.ts';
import { requirePostgres } from '../support/postgres-programs.ts';
import { type PostgresServer, startPostgres } from '../support/postgres-server.ts';
import { hashOf, newKey, newUser } from './fixtures.ts';
import { accessToNewSchema, openPostgresUnderTest, recordsLimits } from './postgres-stores.ts';

interface Heard {
  readonly feed: ChangeFeed;
  /** Everything told since it was emptied. */
  readonly told: (RecordsChange | null)[];
  /** Resolves once all that has been changed by now was told. */
  catchUp(): Promise<void>;
}

async function listen(t: Test, access: PostgresAccess, store: PostgresRecords): Promise<Heard> {
  const channel = changeChannel(access.address.schema);
  const from = await store.readPosition();
  const feed = listenForChanges({
    open: () => createPostgresClient(access, recordsLimits.timeoutMs),
    channel,
    from,
  });
  t.teardown(() => feed.close());
  const told: (RecordsChange | null)[] = [];
  feed.onChange((change) => told.push(change));
  const catchUp = async () => {
    const since = performance.now();
    await eventually('everything was heard', () => feed.notifiedUntil > since);
  };
  await catchUp();
  return { feed, told, catchUp };
}

/** Ends the connection that listens, and keeps new ones out while `work` is done. */
async function deafen(server: PostgresServer, work: () => Promise<unknown>): Promise<void> {
  await server.query(
    `SELECT pg_terminate_backend(pid, 5000) FROM pg_stat_activity WHERE application_name = $1`,
    [listenerName],
  );
  await work();
}

async function addKeys(store: PostgresRecords, ids: readonly string[]): Promise<void> {
  for (let start = 0; start < ids.length; start += 50)
    await Promise.all(ids.slice(start, start + 50).map((id) => store.createApiKey(newKey(id), hashOf(id))));
}

if (requirePostgres(t)) {
  const server = await startPostgres(t);

  async function setUp(t: Test) {
    const access = accessToNewSchema(server);
    const store = await openPostgresUnderTest(t, access);
    await store.createUser(newUser('owner'), 'owner');
    return { access, store, heard: await listen(t, access, store), schema: access.address.schema };
  }

  t.test('each change is told once, and nothing but it, while many are made', async (t) => {
    const { store, heard } = await setUp(t);
    const ids = Array.from({ length: 200 }, (_, index) => `k${index}`);
    await addKeys(store, ids);
    await heard.catchUp();
    const newKeys = heard.told.map((change) => change?.newKeys);
    t.strictSame(newKeys.flat().sort(), [...ids].sort());
  });

  t.test('what was changed while nobody could listen is told by name', async (t) => {
    const { store, heard } = await setUp(t);
    await deafen(server, async () => {
      await addKeys(store, ['a', 'b']);
      await store.deleteApiKey('a', { children: false });
    });
    await heard.catchUp();
    t.notOk(heard.told.includes(null));
    t.strictSame(
      heard.told.flatMap((change) => change?.keys),
      ['a'],
    );
  });

  t.test('what is too long for a notification is told by name', async (t) => {
    const { store, heard } = await setUp(t);
    const ids = Array.from({ length: 400 }, (_, index) => `key-of-a-long-name-${index}`);
    await addKeys(store, ids);
    await store.removeUser('owner', { keepKeys: false });
    await heard.catchUp();
    t.notOk(heard.told.includes(null));
    t.match(heard.told.at(-1), { users: ['owner'] });
    t.equal(heard.told.at(-1)?.keys.length, ids.length);
  });

  t.test('a made-up notification hides no change', async (t) => {
    const { store, heard, access } = await setUp(t);
    await addKeys(store, ['k']);
    await heard.catchUp();
    heard.told.length = 0;
    const version = (await store.readPosition()).version;
    for (const made of [version + 1, version + 2, version + 100])
      await server.query('SELECT pg_notify($1, $2)', [
        changeChannel(access.address.schema),
        `${made} key:made-up`,
      ]);
    await store.deleteApiKey('k', { children: false });
    await heard.catchUp();
    t.ok(heard.told.some((change) => change?.keys.includes('k')));
    t.notOk(heard.told.includes(null));
  });

  const histories: Record<string, (schema: string) => Promise<unknown>> = {
    'that has the same number': (schema) =>
      server.query(`UPDATE ${schema}.changes SET mark = gen_random_uuid()
        WHERE version = (SELECT version FROM ${schema}.store_state)`),
    'that has lost the last changes': (schema) =>
      server.query(`WITH lost AS (DELETE FROM ${schema}.changes
          WHERE version = (SELECT version FROM ${schema}.store_state))
        UPDATE ${schema}.store_state SET version = version - 1`),
    'that does not reach back': (schema) =>
      server.query(`WITH lost AS (DELETE FROM ${schema}.changes),
          next AS (UPDATE ${schema}.store_state SET version = version + 20000 RETURNING version)
        INSERT INTO ${schema}.changes (version, hints) SELECT version, '*' FROM next`),
  };
  for (const [what, become] of Object.entries(histories))
    t.test(`of another history, ${what}, anything may have been changed`, async (t) => {
      const { store, heard, schema } = await setUp(t);
      await addKeys(store, ['k']);
      await heard.catchUp();
      heard.told.length = 0;
      await become(schema);
      await heard.catchUp();
      t.strictSame(heard.told.splice(0), [null]);
      await heard.catchUp();
      t.strictSame(heard.told, [], 'once');
      await addKeys(store, ['l']);
      await heard.catchUp();
      t.match(heard.told.at(-1), { newKeys: ['l'] });
    });

  t.test('the log keeps the newest changes', async (t) => {
    const { store, schema } = await setUp(t);
    await server.query(`INSERT INTO ${schema}.changes (version, hints) SELECT n, 'key:k' FROM generate_series(2, 20479) n
      ON CONFLICT DO NOTHING`);
    await server.query(`UPDATE ${schema}.store_state SET version = 20479`);
    await addKeys(store, ['k']);
    const [row] = await server.query<{ least: number; newest: number }>(
      `SELECT min(version)::int AS least, max(version)::int AS newest FROM ${schema}.changes`,
    );
    t.strictSame(row, { least: 10_481, newest: 20_480 });
  });
}
