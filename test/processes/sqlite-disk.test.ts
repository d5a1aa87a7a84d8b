import { spawnSync } from 'node:child_process';
import { statSync } from 'node:fs';
import { join } from 'node:path';
import Database from 'better-sqlite3';
import t, { type Test } from 'tap';
import { createSqliteRecords } from '../../src/stores/sqlite/records.ts';
import { newUser, startOfTime } from '../contract/fixtures.ts';
import { createUser, listUsers, updateUser } from '../support/administration/record-changes.ts';
import type { ApiClient } from '../support/clients/api-client.ts';
import { eventually } from '../support/eventually.ts';
import { administrator, bootstrapToken, startTestGateway } from '../support/gateway/gateway.ts';
import { requireSmallDisk } from '../support/stores/small-disk.ts';

const { username, password } = administrator;

/** A gateway whose stores are on two small disks, with one user signed in and a key. */
async function startOnDisks(t: Test, sessions: object = {}, others: object = {}) {
  const [records, sessionDisk] = [requireSmallDisk(t, '2m'), requireSmallDisk(t, '2m')];
  if (records === undefined || sessionDisk === undefined) return undefined;
  const stores = {
    records: `sqlite:${join(records.folder, 'records.db')}`,
    sessions: `sqlite:${join(sessionDisk.folder, 'sessions.db')}`,
    ...others,
  };
  const gateway = await startTestGateway(t, { config: { stores, sessions } });
  const { api, managementPort } = gateway;
  await api.activate(username, password, bootstrapToken);
  const user = await api.signIn(username, password);
  const { key } = await api.mintKey(user.accessToken, { label: 'ci', scopes: ['store:read'] });
  const get = (path: string) => fetch(`http://127.0.0.1:${managementPort}${path}`);
  return {
    ...gateway,
    records,
    sessionDisk,
    user,
    key,
    readiness: async () => {
      const response = await get('/readyz');
      const { dependencies } = (await response.json()) as { dependencies: any };
      return { status: response.status, dependencies };
    },
    up: async (store: string) =>
      Number(
        new RegExp(`^postern_store_up{store="${store}"} (\\d)$`, 'm').exec(
          await (await get('/metrics')).text(),
        )?.[1],
      ),
    outages: () =>
      gateway
        .logLines()
        .filter(({ msg }) => /^store (unavailable|available again)$/.test(String(msg)))
        .map(({ msg, store, reason }) => [msg, store, reason].filter((part) => part !== undefined).join(' ')),
  };
}

const mint = (api: ApiClient, bearer: string) =>
  api.send({
    method: 'POST',
    path: '/api/admin/api-keys/',
    bearer,
    json: { label: 'x'.repeat(100), scopes: ['store:read'] },
  });

/** Mints until that is refused: while SQLite has room in its log, a full disk is none. */
async function mintUntilRefused(api: ApiClient, bearer: string) {
  return eventually('a refusal', async () => {
    const response = await mint(api, bearer);
    return response.status !== 201 && response;
  });
}

t.test(
  'records on a full disk: unavailable at once, once, with the reason, until there is room',
  async (t) => {
    const gateway = await startOnDisks(t);
    if (gateway === undefined) return;
    const { api, records, user, key, readiness, up, outages } = gateway;
    t.equal(await up('records'), 1);
    records.fill();
    const refused = await mintUntilRefused(api, user.accessToken);
    t.match(refused, { status: 503, json: { code: 'store_unavailable' } });
    t.match(await readiness(), {
      status: 200,
      dependencies: { records: { ok: false, reason: /SQLITE_(FULL|IOERR_\w+): / }, sessions: { ok: true } },
    });
    t.equal(await up('records'), 0);
    t.equal(await up('sessions'), 1);
    for (let again = 0; again < 5; again++) t.equal((await mint(api, user.accessToken)).status, 503);
    t.equal((await api.send({ path: '/api/store/x', apiKey: key })).status, 200, 'what is read goes on');
    t.equal((await api.send({ path: '/api/store/x', bearer: user.accessToken })).status, 200);
    t.match(outages(), [/^store unavailable records SQLITE_/], 'one line, however many requests');
    t.equal(outages().length, 1);

    records.empty();
    await eventually('it is available', async () => (await readiness()).dependencies.records.ok);
    t.equal((await mint(api, user.accessToken)).status, 201);
    t.equal(await up('records'), 1);
    t.match(outages(), [/^store unavailable records/, /^store available again records$/]);
  },
);

t.test('sessions on a full disk: sign-out is 503, and /readyz says why', async (t) => {
  const gateway = await startOnDisks(t);
  if (gateway === undefined) return;
  const { api, sessionDisk, user, readiness, outages } = gateway;
  sessionDisk.fill();
  const refused = await eventually('a refusal', async () => {
    const response = await api.send({
      method: 'POST',
      path: '/api/login/access-token',
      form: { username, password },
    });
    return response.status !== 200 && response;
  });
  t.equal(refused.status, 503);
  t.match(await readiness(), {
    status: 200,
    dependencies: { records: { ok: true }, sessions: { ok: false, reason: /SQLITE_(FULL|IOERR_\w+): / } },
  });
  t.match(outages(), [/^store unavailable sessions SQLITE_/]);
  sessionDisk.empty();
  await eventually('it is available', async () => (await readiness()).dependencies.sessions.ok);
  t.equal((await api.send({ path: '/api/logout', bearer: user.accessToken })).status, 200);
  t.equal((await api.send({ path: '/api/store/x', bearer: user.accessToken })).status, 401);
});

t.test('records that can’t be written for longer than stale_if_error: not ready', async (t) => {
  const gateway = await startOnDisks(t, { stale_if_error: '0s' }, { sessions_liveness_age: '0s' });
  if (gateway === undefined) return;
  const { api, records, user, readiness } = gateway;
  records.fill();
  await mintUntilRefused(api, user.accessToken);
  t.match(await readiness(), { status: 503, dependencies: { records: { ok: false } } });
  records.empty();
  await eventually('it is ready', async () => (await readiness()).status === 200);
});

for (const ending of ['closed', 'killed'])
  t.test(`records whose process was ${ending} on a full disk open there, and are whole`, async (t) => {
    const disk = requireSmallDisk(t, '2m');
    if (disk === undefined) return;
    const file = join(disk.folder, 'records.db');
    const program = `
      import { createSqliteRecords } from '${import.meta.dirname}/../../src/stores/sqlite/records.ts';
      import { createUser } from '${import.meta.dirname}/../support/administration/record-changes.ts';
      import { newUser } from '${import.meta.dirname}/../contract/fixtures.ts';
      const store = createSqliteRecords(${JSON.stringify(file)}, { now: () => ${startOfTime} });
      let made = 0;
      try {
        for (;;) {
          await createUser(store, newUser(String(made), { email: 'x'.repeat(10_000) }), \`user-\${made}\`);
          made++;
        }
      } catch {}
      process.stdout.write(String(made));
      if (${ending === 'closed'}) await store.close();
      process.kill(process.pid, 'SIGKILL');`;
    const { stdout } = spawnSync(process.execPath, ['--input-type=module', '--eval', program], {
      encoding: 'utf8',
    });
    const made = Number(stdout);
    t.ok(made > 10, `${made} users fill the disk`);
    disk.fill();
    const store = createSqliteRecords(file, { now: () => startOfTime });
    t.teardown(() => store.close());
    t.equal((await listUsers(store)).length, made);
    await t.rejects(createUser(store, newUser('late', { email: 'x'.repeat(10_000) }), 'late'), {
      code: 'store_unavailable',
    });
  });

t.test('a log that filled the disk while a snapshot was held is emptied after it', async (t) => {
  const disk = requireSmallDisk(t, '6m');
  if (disk === undefined) return;
  const file = join(disk.folder, 'records.db');
  const outages: string[] = [];
  let returns = 0;
  const events = { onUnavailable: (reason: string) => outages.push(reason), onAvailable: () => returns++ };
  const store = createSqliteRecords(file, { now: () => startOfTime, events });
  t.teardown(() => store.close());
  await createUser(store, newUser('first'), 'first');
  const rename = (name: string) => updateUser(store, 'first', { displayName: name + 'x'.repeat(50_000) });
  for (const name of ['ada', 'grace', 'alan', 'edsger']) await rename(name);
  const reader = new Database(file);
  t.teardown(() => reader.close());
  // What follows replaces pages: the database itself doesn't have to grow on the full disk.
  reader.pragma('wal_checkpoint(TRUNCATE)');
  await rename('barbara');
  reader.exec('BEGIN; SELECT count(*) FROM users');
  for (let index = 0; outages.length === 0; index++)
    await rename(`${index}`).catch((error) => t.match(error, { code: 'store_unavailable' }));
  t.match(outages, [/^SQLITE_FULL/]);
  t.ok(statSync(`${file}-wal`).size > 4 * 1024 * 1024, 'of the log');
  reader.exec('COMMIT');
  await eventually('it is available', () => returns === 1);
  t.ok(statSync(`${file}-wal`).size < 1024 * 1024);
  await createUser(store, newUser('second'), 'second');
});
