import { setTimeout } from 'node:timers/promises';
import t, { type Test } from 'tap';
import { createPostgresClient, createPostgresRecords } from '../../src/stores/postgres/records.ts';
import { newUser, startOfTime } from '../contract/fixtures.ts';
import { accessToNewSchema, openPostgresUnderTest, recordsLimits } from '../contract/postgres-stores.ts';
import { createUser, listUsers } from '../support/administration/record-changes.ts';
import { eventually } from '../support/eventually.ts';
import { startTcpRelay } from '../support/servers/tcp-relay.ts';
import { requirePostgres } from '../support/stores/postgres-programs.ts';
import { startPostgres } from '../support/stores/postgres-server.ts';

const refusal = { code: 'store_unavailable' };
/** The promise, plus a margin for a busy machine. */
const longestMs = 2_000 + 300;
const limits = { ...recordsLimits, timeoutMs: 1_800 };

const use = new Map([['a', 1]]);
const connections = `SELECT pid FROM pg_stat_activity WHERE application_name = 'postern'`;

/** Every one of the calls is refused, in time. */
async function refusesAll(t: Test, calls: readonly unknown[]) {
  const start = performance.now();
  const responses = await Promise.allSettled(calls);
  const elapsed = performance.now() - start;
  const reasons = responses.map((response) =>
    response.status === 'rejected' ? response.reason.code : 'done',
  );
  t.strictSame(reasons, Array(calls.length).fill('store_unavailable'));
  t.ok(elapsed < longestMs, `${elapsed} ms`);
}

if (requirePostgres(t)) {
  t.test('a killed server is unavailable within two seconds, and available after its restart', async (t) => {
    const server = await startPostgres(t);
    const store = await openPostgresUnderTest(t, accessToNewSchema(server), limits);
    await createUser(store, newUser('a'), 'a');
    // All connections of the pool.
    await Promise.all(Array.from({ length: 20 }, () => store.findUser('a')));
    await server.kill();
    await refusesAll(t, [
      store.findUser('a'),
      createUser(store, newUser('b'), 'b'),
      store.ping(),
      store.readPosition(),
      store.noteUse(use),
    ]);
    await server.restart();
    await eventually('back', () => store.ping().then(() => true));
    t.ok(await store.findUser('a'), 'what was acknowledged is stored');
    await createUser(store, newUser('b'), 'b');
  });

  t.test('a paused server blocks no caller, and no queue grows without bound', async (t) => {
    const server = await startPostgres(t);
    const store = await openPostgresUnderTest(t, accessToNewSchema(server), limits);
    await createUser(store, newUser('a'), 'a');
    await Promise.all(Array.from({ length: 20 }, () => store.findUser('a')));
    server.pause();
    const reads = Array.from({ length: 200 }, () => store.findUser('a'));
    const writes = Array.from({ length: 200 }, (_, index) =>
      createUser(store, newUser(`b${index}`), `b${index}`),
    );
    let refusedAtOnce = 0;
    for (const call of [...reads, ...writes]) {
      Promise.resolve<unknown>(call).catch((error) => {
        if (/^too many .* waiting$/.test(error.cause?.message)) refusedAtOnce += 1;
      });
    }
    await new Promise(setImmediate);
    // One write is being made.
    t.equal(refusedAtOnce, 400 - 2 * 128 - 1);
    await refusesAll(t, [...reads, ...writes]);
    await refusesAll(t, [store.ping(), createUser(store, newUser('c'), 'c')]);
    server.resume();
    await eventually('back', () => store.ping().then(() => true));
    const ids = (await listUsers(store)).map(({ id }) => id);
    t.ok(ids.includes('a'));
    await createUser(store, newUser('d'), 'd');
  });

  t.test(
    'a server that accepts no writes is unavailable for writes, and is left for one that does',
    async (t) => {
      const server = await startPostgres(t);
      const store = await openPostgresUnderTest(t, accessToNewSchema(server), limits);
      await createUser(store, newUser('a'), 'a');
      await server.makeReadOnly();
      await refusesAll(t, [createUser(store, newUser('b'), 'b'), store.ping(), store.noteUse(use)]);
      await t.rejects(store.secret('cursor', new Uint8Array([1])), refusal);
      t.ok(await store.findUser('a'), 'it still responds');
      const readByMany = () => Promise.all(Array.from({ length: 20 }, () => store.findUser('a')));
      await readByMany();
      const before = await server.query(connections);
      t.ok(before.length > 1);
      await t.rejects(createUser(store, newUser('b'), 'b'), refusal);
      await server.makeWritable();
      await readByMany();
      await createUser(store, newUser('b'), 'b');
      const after = new Set((await server.query(connections)).map(({ pid }) => pid));
      t.strictSame(
        before.filter(({ pid }) => after.has(pid)),
        [],
        'every connection to it is replaced',
      );
    },
  );

  t.test('a stalled writer blocks the others for no longer than its timeout', async (t) => {
    const server = await startPostgres(t);
    const access = accessToNewSchema(server);
    const store = await openPostgresUnderTest(t, access, limits);
    const holder = createPostgresClient(access, 1_000);
    holder.on('error', () => {});
    t.teardown(() => holder.end());
    await holder.connect();
    await holder.query('BEGIN');
    await holder.query('SELECT version FROM store_state FOR UPDATE');
    await createUser(store, newUser('a'), 'a');
    t.ok(await store.findUser('a'));
  });

  t.test('reads continue while writers wait for each other', async (t) => {
    const server = await startPostgres(t);
    const access = accessToNewSchema(server);
    const store = await openPostgresUnderTest(t, access, limits);
    const holder = createPostgresClient(access, limits.timeoutMs);
    t.teardown(() => holder.end());
    await holder.connect();
    await holder.query('BEGIN');
    await holder.query('SELECT version FROM store_state FOR UPDATE');
    const writes = Array.from({ length: 20 }, (_, index) =>
      createUser(store, newUser(`u${index}`), `u${index}`),
    );
    const start = performance.now();
    t.strictSame(await listUsers(store), []);
    t.ok(performance.now() - start < 1_000);
    await holder.query('COMMIT');
    await Promise.all(writes);
    t.equal((await listUsers(store)).length, 20);
  });

  t.test('a read whose connection is lost is repeated, a write is not', async (t) => {
    const relay = await startTcpRelay(t, await startPostgres(t));
    const store = await openPostgresUnderTest(t, accessToNewSchema(relay), limits);
    await createUser(store, newUser('a'), 'a');
    for (let round = 0; round < 20; round += 1) {
      const reads = Array.from({ length: 20 }, () => store.findUser('a'));
      await setTimeout(Math.random() * 5);
      relay.cut();
      t.ok((await Promise.all(reads)).every((found) => found?.user.id === 'a'));
    }
    relay.delay(200);
    const write = createUser(store, newUser('b'), 'b');
    const refused = t.rejects(write, refusal);
    await setTimeout(100);
    relay.cut();
    await refused;
  });

  t.test('a store that is unavailable from the start is just unavailable', async (t) => {
    const access = accessToNewSchema({ url: 'postgres://postern:secret@127.0.0.1:1/postern' });
    const store = createPostgresRecords({ access, now: () => startOfTime, ...limits });
    await refusesAll(t, [store.findUser('a'), store.ping(), store.activate(newUser('a'), 'a')]);
    await store.close();
    await refusesAll(t, [store.findUser('a'), createUser(store, newUser('a'), 'a')]);
  });
}
