import { existsSync, renameSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import t, { type Test } from 'tap';
import { createSqliteRecords } from '../../src/stores/sqlite/records.ts';
import { newUser, startOfTime } from '../contract/fixtures.ts';
import { temporaryFolder } from '../contract/sqlite-stores.ts';
import { createUser, listUsers } from '../support/administration/record-changes.ts';
import { eventually } from '../support/eventually.ts';
import { administrator, bootstrapToken, startTestGateway } from '../support/gateway/gateway.ts';

const now = () => startOfTime;

/** Records in a file, with one user; `outages` are the reasons for which they were unavailable. */
async function openRecords(t: Test, staleIfErrorMs = 0) {
  const file = join(temporaryFolder(t), 'records.db');
  const outages: string[] = [];
  let returns = 0;
  const events = { onUnavailable: (reason: string) => outages.push(reason), onAvailable: () => returns++ };
  const store = createSqliteRecords(file, { now, staleIfErrorMs: () => staleIfErrorMs, events });
  t.teardown(() => store.close());
  await createUser(store, newUser('1'), 'first');
  return { file, store, outages, returns: () => returns };
}

for (const suffix of ['', '-wal', '-shm'])
  t.test(`nothing is acknowledged from the moment the ${suffix || 'database'} file is moved`, async (t) => {
    const { file, store, outages, returns } = await openRecords(t);
    renameSync(file + suffix, `${file}.moved`);
    // Without waiting for anything: the write itself looks.
    const cause = {
      message: `the ${suffix === '' ? 'file' : `${suffix} file`} was moved or deleted; put it back, or restore a backup and restart`,
    };
    await t.rejects(createUser(store, newUser('2'), 'second'), {
      code: 'store_unavailable',
      options: { cause },
    });
    t.same(outages, [cause.message]);
    await t.rejects(store.ping(), { code: 'store_unavailable', options: { cause } });
    await t.rejects(async () => store.findUser('1'), { code: 'store_unavailable' });
    await t.rejects(createUser(store, newUser('2'), 'second'), { code: 'store_unavailable' });
    t.equal(outages.length, 1, 'reported once');

    renameSync(`${file}.moved`, file + suffix);
    await eventually('it goes on', () => returns() === 1);
    t.equal(await store.findUser('2'), undefined, 'nothing of what was refused');
    await createUser(store, newUser('2'), 'second');
    t.equal((await listUsers(store)).length, 2);
  });

t.test('an idle store notices it, too', async (t) => {
  const { file, outages, store } = await openRecords(t);
  rmSync(file);
  await eventually('noticed', () => outages.length === 1);
  t.throws(() => store.version(), { code: 'store_unavailable' });
});

t.test('records read before count for stale_if_error', async (t) => {
  const { file, outages, store } = await openRecords(t, 60_000);
  const version = store.version();
  rmSync(file);
  await eventually('noticed', () => outages.length === 1);
  t.equal(store.version(), version);
});

t.test('another file in its place is left as it is, and so is its log', async (t) => {
  const { file, store, outages } = await openRecords(t);
  renameSync(file, `${file}.moved`);
  rmSync(`${file}-wal`);
  rmSync(`${file}-shm`);
  const other = createSqliteRecords(file, { now });
  await createUser(other, newUser('9'), 'other');
  await eventually('noticed', () => outages.length > 0);
  t.match(
    outages.at(-1),
    /^the file was replaced by another; put the original back, or restart to use the new one$/,
  );
  await t.rejects(createUser(store, newUser('2'), 'second'), { code: 'store_unavailable' });
  await store.close();
  t.ok(existsSync(`${file}-wal`), 'the log of the other one');
  await createUser(other, newUser('10'), 'another');
  await other.close();
  const reopened = createSqliteRecords(file, { now });
  t.equal((await listUsers(reopened)).length, 2);
  await reopened.close();
});

t.test('a symbolic link is followed, and noticed when it leads elsewhere', async (t) => {
  const folder = temporaryFolder(t);
  const [target, elsewhere, link] = ['records.db', 'elsewhere.db', 'link.db'].map((name) =>
    join(folder, name),
  ) as [string, string, string];
  await createSqliteRecords(target, { now }).close();
  await createSqliteRecords(elsewhere, { now }).close();
  symlinkSync(target, link);
  let returns = 0;
  const store = createSqliteRecords(link, { now, events: { onAvailable: () => returns++ } });
  t.teardown(() => store.close());
  await createUser(store, newUser('1'), 'first');
  const refused = (reason: RegExp) =>
    t.rejects(createUser(store, newUser('2'), 'second'), {
      code: 'store_unavailable',
      options: { cause: reason },
    });
  renameSync(`${target}-wal`, `${target}-moved`);
  await refused(/^Error: the -wal file was moved/);
  renameSync(`${target}-moved`, `${target}-wal`);
  await eventually('it goes on', () => returns === 1);
  rmSync(link);
  symlinkSync(elsewhere, link);
  await refused(/^Error: the file was replaced by another/);
  rmSync(link);
  symlinkSync(target, link);
  await eventually('it goes on again', () => returns === 2);
  t.equal((await listUsers(store)).length, 1);
});

t.test('a gateway whose records are moved away acknowledges nothing and says why', async (t) => {
  const stores = {
    records: 'sqlite:records.db',
    sessions: 'sqlite:sessions.db',
    sessions_liveness_age: '0s',
  };
  const { api, folder, managementPort, logLines } = await startTestGateway(t, {
    config: { stores, sessions: { stale_if_error: '0s' } },
  });
  const { username, password } = administrator;
  await api.activate(username, password, bootstrapToken);
  const { accessToken } = await api.signIn(username, password);
  const { key } = await api.mintKey(accessToken, { label: 'ci', scopes: ['store:read'] });
  const readiness = async () => {
    const response = await fetch(`http://127.0.0.1:${managementPort}/readyz`);
    return { status: response.status, records: ((await response.json()) as any).dependencies.records };
  };
  const file = join(folder, 'records.db');
  renameSync(file, `${file}.moved`);
  const refused = await api.send({
    method: 'POST',
    path: '/api/admin/api-keys/',
    bearer: accessToken,
    json: { label: 'lost', scopes: ['store:read'] },
  });
  t.match(refused, { status: 503, json: { code: 'store_unavailable' } });
  t.match(await readiness(), {
    status: 503,
    records: { ok: false, reason: /^the file was moved or deleted/ },
  });
  t.equal((await api.send({ path: '/api/store/x', apiKey: key })).status, 503);
  t.match(
    logLines().filter(({ msg }) => msg === 'store unavailable'),
    [{ level: 'warn', store: 'records', reason: /^the file was moved or deleted/ }],
  );
  writeFileSync(file, '');
  await eventually('another file is there', async () =>
    /^the file was replaced/.test((await readiness()).records.reason),
  );
  renameSync(`${file}.moved`, file);
  await eventually('it goes on', async () => (await readiness()).status === 200);
  t.equal((await api.send({ path: '/api/store/x', apiKey: key })).status, 200);
  await api.mintKey(accessToken, { label: 'kept', scopes: ['store:read'] });
});

t.test('a reload changes for how long what a gateway has read counts', async (t) => {
  const stores = {
    records: 'sqlite:records.db',
    sessions: 'sqlite:sessions.db',
    sessions_liveness_age: '0s',
  };
  const { api, folder, reload } = await startTestGateway(t, { config: { stores } });
  const { username, password } = administrator;
  await api.activate(username, password, bootstrapToken);
  const { accessToken } = await api.signIn(username, password);
  const statusOf = async () => (await api.send({ path: '/api/store/x', bearer: accessToken })).status;
  const signsIn = async () =>
    (await api.send({ method: 'POST', path: '/api/login/access-token', form: administrator })).status;
  const reloadWith = (age: string) => reload({ stores, sessions: { stale_if_error: age } });
  for (const name of ['records.db', 'sessions.db'])
    await t.test(name, async (t) => {
      const file = join(folder, name);
      await reloadWith('0s');
      t.equal(await statusOf(), 200);
      renameSync(file, `${file}.moved`);
      await eventually('it is missed', async () => (await statusOf()) === 503);
      renameSync(`${file}.moved`, file);
      await eventually('it is back', async () => (await statusOf()) === 200);

      await reloadWith('1h');
      t.equal(await statusOf(), 200);
      renameSync(file, `${file}.moved`);
      await eventually('nothing can be written', async () => (await signsIn()) === 503);
      t.equal(await statusOf(), 200);
      renameSync(`${file}.moved`, file);
      await eventually('it can be written again', async () => (await signsIn()) === 200);
    });
});
