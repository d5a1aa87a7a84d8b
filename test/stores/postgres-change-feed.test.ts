import t, { type Test } from 'tap';
import { changeChannel } from '../../src/stores/postgres/changes.ts';
import type { PostgresAccess } from '../../src/stores/postgres/client-config.ts';
import { ChangeListener } from '../../src/stores/postgres/listen.ts';
import {
  createPostgresClient,
  listenerName,
  type PostgresRecords,
} from '../../src/stores/postgres/records.ts';
import type { ChangeFeed, RecordsChange } from '../../src/stores/remote/change-feed.ts';
import { hashOf, newKey, newUser } from '../contract/fixtures.ts';
import { accessToNewSchema, openPostgresUnderTest, recordsLimits } from '../contract/postgres-stores.ts';
import { createApiKey, createUser, removeUser } from '../support/administration/record-changes.ts';
import { eventually } from '../support/eventually.ts';
import { requirePostgres } from '../support/stores/postgres-programs.ts';
import { type PostgresServer, startPostgres } from '../support/stores/postgres-server.ts';

interface RecordedFeed {
  readonly feed: ChangeFeed;
  /** Every change reported since it was cleared. */
  readonly changes: (RecordsChange | null)[];
  /** Resolves once all changes so far have been reported. */
  catchUp(): Promise<void>;
}

async function listen(t: Test, access: PostgresAccess, store: PostgresRecords): Promise<RecordedFeed> {
  const channel = changeChannel(access.address.schema);
  const from = await store.readPosition();
  const feed = new ChangeListener({
    open: () => createPostgresClient(access, recordsLimits.timeoutMs),
    channel,
    from,
  });
  t.teardown(() => feed.close());
  const changes: (RecordsChange | null)[] = [];
  feed.onChange((change) => changes.push(change));
  const catchUp = async () => {
    const since = performance.now();
    await eventually('every change was reported', () => feed.notifiedUntil > since);
  };
  await catchUp();
  return { feed, changes, catchUp };
}

/** Ends the connection that listens, and prevents new ones during `work`. */
async function deafen(server: PostgresServer, work: () => Promise<unknown>): Promise<void> {
  await server.query(
    `SELECT pg_terminate_backend(pid, 5000) FROM pg_stat_activity WHERE application_name = $1`,
    [listenerName],
  );
  await work();
}

async function addKeys(store: PostgresRecords, ids: readonly string[]): Promise<void> {
  for (let start = 0; start < ids.length; start += 50)
    await Promise.all(ids.slice(start, start + 50).map((id) => createApiKey(store, newKey(id), hashOf(id))));
}

if (requirePostgres(t)) {
  const server = await startPostgres(t);

  async function setUp(t: Test) {
    const access = accessToNewSchema(server);
    const store = await openPostgresUnderTest(t, access);
    await createUser(store, newUser('owner'), 'owner');
    return { access, store, recorded: await listen(t, access, store), schema: access.address.schema };
  }

  t.test('each of many changes is reported once, and nothing else', async (t) => {
    const { store, recorded } = await setUp(t);
    const ids = Array.from({ length: 200 }, (_, index) => `k${index}`);
    await addKeys(store, ids);
    await recorded.catchUp();
    const newKeys = recorded.changes.map((change) => change?.newKeys);
    t.strictSame(newKeys.flat().sort(), [...ids].sort());
  });

  t.test('a change made while no connection listened is reported by name', async (t) => {
    const { store, recorded } = await setUp(t);
    await deafen(server, async () => {
      await addKeys(store, ['a', 'b']);
      await store.deleteApiKey('a', { children: false });
    });
    await recorded.catchUp();
    t.notOk(recorded.changes.includes(null));
    t.strictSame(
      recorded.changes.flatMap((change) => change?.keys),
      ['a'],
    );
  });

  t.test('a change too long for a notification is reported by name', async (t) => {
    const { store, recorded } = await setUp(t);
    const ids = Array.from({ length: 400 }, (_, index) => `key-of-a-long-name-${index}`);
    await addKeys(store, ids);
    await removeUser(store, 'owner');
    await recorded.catchUp();
    t.notOk(recorded.changes.includes(null));
    t.match(recorded.changes.at(-1), { users: ['owner'] });
    t.equal(recorded.changes.at(-1)?.keys.length, ids.length);
  });

  t.test('a forged notification hides no change', async (t) => {
    const { store, recorded, access } = await setUp(t);
    await addKeys(store, ['k']);
    await recorded.catchUp();
    recorded.changes.length = 0;
    const version = (await store.readPosition()).version;
    for (const made of [version + 1, version + 2, version + 100])
      await server.query('SELECT pg_notify($1, $2)', [
        changeChannel(access.address.schema),
        `${made} key:made-up`,
      ]);
    await store.deleteApiKey('k', { children: false });
    await recorded.catchUp();
    t.ok(recorded.changes.some((change) => change?.keys.includes('k')));
    t.notOk(recorded.changes.includes(null));
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
    t.test(`with another history, ${what}, anything may have been changed`, async (t) => {
      const { store, recorded, schema } = await setUp(t);
      await addKeys(store, ['k']);
      await recorded.catchUp();
      recorded.changes.length = 0;
      await become(schema);
      await recorded.catchUp();
      t.strictSame(recorded.changes.splice(0), [null]);
      await recorded.catchUp();
      t.strictSame(recorded.changes, [], 'once');
      await addKeys(store, ['l']);
      await recorded.catchUp();
      t.match(recorded.changes.at(-1), { newKeys: ['l'] });
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
