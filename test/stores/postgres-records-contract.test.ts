import t, { type Test } from 'tap';
import { parseHints } from '../../src/stores/postgres/changes.ts';
import type { PostgresAccess } from '../../src/stores/postgres/client-config.ts';
import { createPostgresRecords, type PostgresRecords } from '../../src/stores/postgres/records.ts';
import { hashOf, newAdministrator, newKey, newUser, startOfTime } from '../contract/fixtures.ts';
import {
  accessToNewSchema,
  createPostgresRecordsUnderTest,
  openPostgresUnderTest,
  recordNotifications,
  recordsLimits,
} from '../contract/postgres-stores.ts';
import { runRecordsSuite } from '../contract/records-suite.ts';
import {
  createApiKey,
  createUser,
  linkIdentity,
  listUsers,
  removeUser,
} from '../support/administration/record-changes.ts';
import { requirePostgres } from '../support/stores/postgres-programs.ts';
import { startPostgres } from '../support/stores/postgres-server.ts';

const labelled = (value: string) => [{ field: 'label', operator: 'contains', value }] as const;
const everything = { sortBy: 'created', sortOrder: 'asc', filters: [], size: 100, now: startOfTime } as const;

/** As many stores on one schema as there would be gateways. */
async function openThree(t: Test, access: PostgresAccess) {
  const open = () => openPostgresUnderTest(t, access);
  return Promise.all([open(), open(), open()]);
}

if (requirePostgres(t)) {
  const server = await startPostgres(t);
  runRecordsSuite({ name: 'postgres', create: (t) => createPostgresRecordsUnderTest(t, server) });

  t.test('postgres: 50 parallel activations create one administrator', async (t) => {
    const stores = await openThree(t, accessToNewSchema(server));
    const responses = await Promise.allSettled(
      Array.from({ length: 50 }, (_, index) =>
        stores[index % 3]!.activate(newAdministrator(`u${index}`), `u${index}`),
      ),
    );
    const refused = responses.filter((response) => response.status === 'rejected');
    t.strictSame(
      refused.map(({ reason }) => reason.code),
      Array(49).fill('already_activated'),
    );
    t.equal((await listUsers(stores[0]!)).length, 1);
  });

  t.test('postgres: parallel creations and deletions stay exact, with lists in between', async (t) => {
    const stores = await openThree(t, accessToNewSchema(server));
    const [store] = stores;
    await createUser(store!, newUser('owner'), 'owner');
    const ids = Array.from({ length: 64 }, (_, index) => `k${index}`);
    const on = (index: number) => stores[index % 3]!;
    const [, lists] = await Promise.all([
      Promise.all(ids.map((id, index) => createApiKey(on(index), newKey(id), hashOf(id)))),
      Promise.all(ids.slice(0, 20).map((_, index) => on(index).listApiKeys(everything))),
    ]);
    for (const page of lists) t.equal(page.items.length, page.total, 'one snapshot');
    const deleted = await Promise.all(
      // Each by two connections at once, half of the keys.
      ids.flatMap((id, index) =>
        index % 2 ? [] : [0, 1].map((other) => on(index + other).deleteApiKey(id, { children: false })),
      ),
    );
    t.strictSame(deleted.flat().sort(), ids.filter((_, index) => index % 2 === 0).sort(), 'each once');
    const left = await store!.listApiKeys({ ...everything, filters: labelled('LABEL') });
    t.strictSame(
      left.items.map(({ key }) => key.id).sort(),
      ids.filter((_, index) => index % 2 === 1).sort(),
    );
    t.equal(left.total, 32);
  });

  t.test('postgres: no key is minted with a key that is deleted at the same time', async (t) => {
    const stores = await openThree(t, accessToNewSchema(server));
    const [store] = stores;
    await createUser(store!, newUser('owner'), 'owner');
    for (let round = 0; round < 20; round += 1) {
      const parent = `parent-${round}`;
      await createApiKey(store!, newKey(parent), hashOf(parent));
      const mint = (id: string, on: PostgresRecords) => createApiKey(on, newKey(id, { parent }), hashOf(id));
      await Promise.allSettled([
        mint(`a-${round}`, stores[1]!),
        store!.deleteApiKey(parent, { children: true }),
        mint(`b-${round}`, stores[2]!),
      ]);
    }
    t.equal((await store!.listApiKeys(everything)).total, 0);
  });

  t.test('postgres: every change is notified, in the order of versions and of visibility', async (t) => {
    const access = accessToNewSchema(server);
    const stores = await openThree(t, access);
    const recorded = await recordNotifications(t, access);
    await createUser(stores[0]!, newUser('owner'), 'owner');
    await Promise.all(
      Array.from({ length: 60 }, (_, index) =>
        createApiKey(stores[index % 3]!, newKey(`k${index}`), hashOf(`k${index}`)),
      ),
    );
    await removeUser(stores[1]!, 'owner');
    const version = (await stores[2]!.readPosition()).version;
    await recorded.until(version);
    t.strictSame(
      recorded.changes.map((change) => change.version),
      Array.from({ length: version }, (_, index) => index + 1),
      'without a gap',
    );
    const hints = recorded.changes.map((change) => change.hints);
    t.equal(hints[0], 'user:owner');
    // Changes that are made together share a version.
    const keys = hints.slice(1, -1).flatMap((all) => all.split(' '));
    t.strictSame(keys.sort(), Array.from({ length: 60 }, (_, index) => `new-key:k${index}`).sort());
    const removal = parseHints(hints.at(-1)!);
    t.strictSame(removal?.users, ['owner']);
    t.equal(removal?.keys.length, 60, 'the keys deleted with the user');
  });

  t.test('postgres: what changes nothing notifies nothing', async (t) => {
    const access = accessToNewSchema(server);
    const store = await openPostgresUnderTest(t, access);
    const identity = { issuer: 'https://login.example.com', subject: 's' };
    await createUser(store, newUser('a', { scopeSets: ['administrator'] }), 'a');
    await linkIdentity(store, 'a', identity);
    const version = (await store.readPosition()).version;
    const claims = { ...identity, displayName: 'A', email: null, scopes: [], scopeSets: [] };
    await store.acceptIdentity(claims, null);
    await t.rejects(linkIdentity(store, 'a', identity), { code: 'conflict' });
    await store.deleteApiKey('none', { children: true });
    await removeUser(store, 'none');
    await t.rejects(removeUser(store, 'a'), { code: 'last_administrator' });
    await t.rejects(createUser(store, newUser('b'), 'a'), { code: 'conflict' });
    await store.secret('cursor', new Uint8Array([1]));
    const audit = { drafts: () => [], onWritten() {} };
    await store.keepSignIn({ userId: 'a', instant: startOfTime }, audit);
    await store.noteUse(new Map([['none', startOfTime]]));
    t.equal((await store.readPosition()).version, version);
  });

  t.test('postgres: all replicas record uses at once, and the last use counts', async (t) => {
    const stores = await openThree(t, accessToNewSchema(server));
    const ids = Array.from({ length: 700 }, (_, index) => `k${index}`);
    await createUser(stores[0]!, newUser('owner'), 'owner');
    for (const id of ids.slice(0, 100)) await createApiKey(stores[0]!, newKey(id), hashOf(id));
    await Promise.all(
      stores.map((store, index) => {
        const order = index % 2 ? ids : ids.toReversed();
        return store.noteUse(new Map(order.map((id) => [id, 100 + index])));
      }),
    );
    for (const id of ['k0', 'k57', 'k99']) {
      t.match(await stores[0]!.findApiKey(id), { key: { lastUsed: 102 } });
    }
  });

  t.test('postgres: a text with NUL matches nothing, and is no failure', async (t) => {
    const store = await openPostgresUnderTest(t, accessToNewSchema(server));
    await createUser(store, newUser('a'), 'a');
    t.equal(await store.findUserByName('a\0'), undefined);
    t.equal(await store.findUser('\0'), undefined);
    t.equal(await store.findScopeSetByName('\0'), undefined);
    t.strictSame((await store.findScopeSets(['\0', 'administrator'])).length, 1);
    t.match(await store.listApiKeys({ ...everything, filters: labelled('\0') }), { total: 0 });
  });

  t.test(
    'postgres: an invalid query is not a failure of the store, and its error quotes no row',
    async (t) => {
      const store = await openPostgresUnderTest(t, accessToNewSchema(server));
      // The server's message about a missing name quotes the whole row after its first line.
      const nameless = newUser('a', { username: 'a\0', passwordHash: 'secret-hash' });
      const error = await createUser(store, nameless, 'a').catch((error) => error);
      t.match(error, { code: '23502', kind: 'invalid' });
      t.notMatch(JSON.stringify(error) + String(error.stack), /secret-hash/);
      t.strictSame(await listUsers(store), []);
      await createUser(store, newUser('a'), 'a');
      await t.rejects(createUser(store, newUser('a'), 'b'), { code: '23505' });
    },
  );

  t.test('postgres: backups are left to the server’s own tools', async (t) => {
    const store = createPostgresRecords({
      access: accessToNewSchema(server),
      now: () => startOfTime,
      ...recordsLimits,
    });
    t.teardown(() => store.close());
    await t.rejects(store.backup('/tmp/copy'), /pg_dump/);
  });
}
