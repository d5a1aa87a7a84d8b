import t, { type Test } from 'tap';
import { createPostgresClient } from '../../src/stores/postgres/records.ts';
import { hashOf, newKey, newUser } from '../contract/fixtures.ts';
import { accessToNewSchema, openPostgresUnderTest, recordsLimits } from '../contract/postgres-stores.ts';
import { createApiKey, createUser, listUsers } from '../support/administration/record-changes.ts';
import { eventually } from '../support/eventually.ts';
import { requirePostgres } from '../support/stores/postgres-programs.ts';
import { type PostgresServer, startPostgres } from '../support/stores/postgres-server.ts';

const refusal = { code: 'store_unavailable' };
const count = 40;
/** The first is made alone; those that wait for it share transactions of 16. */
const groups = 1 + Math.ceil((count - 1) / 16);

/** A store in a schema of its own, and how to hold the lock of its writers. */
async function openHeld(t: Test, server: PostgresServer, limits = recordsLimits) {
  const access = accessToNewSchema(server);
  const store = await openPostgresUnderTest(t, access, limits);
  const holder = createPostgresClient(access, 10_000);
  t.teardown(() => holder.end());
  await holder.connect();
  const hold = () => holder.query('BEGIN; SELECT version FROM store_state FOR UPDATE');
  const release = () => holder.query('COMMIT');
  const userIds = async () => (await listUsers(store)).map(({ id }) => id).sort();
  return { store, hold, release, userIds };
}

/** The code of each that was refused; null: it was done. */
async function codesOf(calls: readonly unknown[]): Promise<readonly (string | null)[]> {
  const settled = await Promise.allSettled(calls);
  return settled.map((each) => (each.status === 'rejected' ? each.reason.code : null));
}

if (requirePostgres(t)) {
  const server = await startPostgres(t);

  t.test('writes that wait for each other share transactions', async (t) => {
    const { store, userIds } = await openHeld(t, server);
    const { version } = await store.readPosition();
    const ids = Array.from({ length: count }, (_, index) => `u${index}`).sort();
    await Promise.all(ids.map((id) => createUser(store, newUser(id), id)));
    t.strictSame(await userIds(), ids);
    t.equal((await store.readPosition()).version, version + groups, 'each group of them is one change');
    await createUser(store, newUser('alone'), 'alone');
    t.equal((await store.readPosition()).version, version + groups + 1);
  });

  t.test('each has its own result', async (t) => {
    const { store, hold, release, userIds } = await openHeld(t, server);
    const refuse = () => {
      throw Object.assign(new Error('judged after its deletion'), { code: 'judged' });
    };
    await createUser(store, newUser('owner'), 'owner');
    await createApiKey(store, newKey('kept', { createdBy: 'owner' }), hashOf('kept'));
    await hold();
    const calls = [
      createUser(store, newUser('first'), 'first'),
      createUser(store, newUser('a'), 'a'),
      // Refused before anything is written.
      createApiKey(store, newKey('k', { createdBy: 'nobody' }), hashOf('k')),
      createUser(store, newUser('b'), 'b'),
      // Refused by the server, and by its judge once the key has been deleted.
      createUser(store, newUser('a'), 'a'),
      store.deleteApiKey('kept', { children: false, judge: refuse }),
      createUser(store, newUser('c'), 'c'),
    ];
    await release();
    const codes = await codesOf(calls);
    t.strictSame(codes, [null, null, 'not_authenticated', null, codes[4], 'judged', null]);
    t.not(codes[4], null, 'a name that is taken');
    t.strictSame(await userIds(), ['a', 'b', 'c', 'first', 'owner']);
    t.ok(await store.findApiKey('kept'), 'rolled back');
  });

  t.test('a connection that is lost takes all of a group with it, and none of the next', async (t) => {
    const { store, hold, release, userIds } = await openHeld(t, server);
    await createUser(store, newUser('before'), 'before');
    const backends = `SELECT pid FROM pg_stat_activity WHERE application_name = 'postern' AND wait_event_type = 'Lock'`;
    await hold();
    const calls = ['a', 'b', 'c'].map((id) => createUser(store, newUser(id), id));
    // The first waits for the lock, the others for the first.
    const codes = codesOf(calls);
    for (const _ of ['of the first', 'of the group']) {
      await eventually('waiting', async () => (await server.query(backends)).length > 0);
      await server.query(`SELECT pg_terminate_backend(pid) FROM (${backends}) waiting`);
    }
    const next = createUser(store, newUser('d'), 'd');
    await release();
    t.strictSame(await codes, ['store_unavailable', 'store_unavailable', 'store_unavailable']);
    await next;
    t.strictSame(await userIds(), ['before', 'd']);
  });

  t.test('a write that was refused while it waited is never begun', async (t) => {
    const { store, hold, release, userIds } = await openHeld(t, server, {
      ...recordsLimits,
      timeoutMs: 1_000,
    });
    await createUser(store, newUser('before'), 'before');
    await hold();
    const ids = Array.from({ length: count }, (_, index) => `u${index}`);
    const codes = await codesOf(ids.map((id) => createUser(store, newUser(id), id)));
    t.ok(codes.every((code) => code === refusal.code));
    await release();
    await eventually('writing again', () => createUser(store, newUser('after'), 'after').then(() => true));
    t.strictSame(await userIds(), ['after', 'before']);
  });
}
