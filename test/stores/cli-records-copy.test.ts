import { copyFileSync, existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import Database from 'better-sqlite3';
import t, { type Test } from 'tap';
import { eventually } from '../support/eventually.ts';
import { type CommandFolder, createCommandFolder, startPostern } from '../support/gateway/command.ts';
import { administrator, bootstrapToken } from '../support/gateway/gateway.ts';
import { startTcpRelay } from '../support/servers/tcp-relay.ts';
import {
  dumpOf,
  dumpWithoutCopies,
  emptyColumnsOf,
  fillRecords,
  manyKeys,
} from '../support/stores/filled-records.ts';
import { requirePostgres } from '../support/stores/postgres-programs.ts';
import { type PostgresServer, startPostgres } from '../support/stores/postgres-server.ts';

const password = 'secret';
const env = { POSTERN_RECORDS_PASSWORD: password };
const { username, password: signInPassword } = administrator;
let schemas = 0;

/** The address of a schema of its own, as one may write it into a command: without the password. */
function newAddress({ url }: Pick<PostgresServer, 'url'>): string {
  schemas += 1;
  return `${url.replace(`:${password}@`, '@')}?schema=copy_${schemas}`;
}

async function createFilledFolder(t: Test): Promise<CommandFolder & { readonly records: string }> {
  const folder = createCommandFolder(t);
  const records = join(folder.folder, 'records.db');
  await fillRecords(records);
  return { ...folder, records };
}

/** Rows of that table in the schema of an address. */
async function countIn(server: PostgresServer, address: string, table: string): Promise<number> {
  const schema = new URL(address).searchParams.get('schema');
  const [row] = await server.query<{ count: string }>(`SELECT count(*) FROM ${schema}.${table}`);
  return Number(row!.count);
}

/** The number of rows that the schema itself keeps for that table. */
async function keptCountIn(server: PostgresServer, address: string, table: string): Promise<number> {
  const schema = new URL(address).searchParams.get('schema');
  const [row] = await server.query<{ total: string }>(
    `SELECT total FROM ${schema}.row_counts WHERE table_name = $1`,
    [table],
  );
  return Number(row!.total);
}

t.test('PostgreSQL', async (t) => {
  if (!requirePostgres(t)) return;
  const server = await startPostgres(t);

  t.test('backup leaves PostgreSQL to its own tools', async (t) => {
    const stores = { records: `${server.url}?schema=backup`, sessions: 'sqlite:sessions.db' };
    const { run, folder } = createCommandFolder(t, { stores });
    for (const target of ['-', join(folder, 'copy.db')]) {
      t.match(await run(['backup', target, '--create']), { code: 1, stdout: '', stderr: /pg_dump/ });
      t.notOk(existsSync(target));
    }
  });

  t.test('all records go to PostgreSQL and back, and are the same in every column', async (t) => {
    const { run, folder, records } = await createFilledFolder(t);
    t.same(emptyColumnsOf(records), [], 'there is something in every column');
    const address = newAddress(server);
    const bytes = readFileSync(records);
    const there = await run(['records', 'copy', '--to', address, '--json'], { env });
    t.equal(there.code, 0, there.stderr);
    t.match(there.json, { from: records, to: address.replace('postern@', '') });
    t.notMatch(there.stderr + there.stdout, /secret(?!s)/);
    t.match(there.stderr, `postern: api_keys: ${manyKeys + 4}\n`);
    t.equal(await keptCountIn(server, address, 'api_keys'), manyKeys + 4);
    t.equal(await keptCountIn(server, address, 'audit'), await countIn(server, address, 'audit'));
    t.match(there.audit, [{ event: 'records_copied', outcome: 'success', actor: { kind: 'command_line' } }]);

    const copy = join(folder, 'back.db');
    const back = await run(['records', 'copy', '--from', address, '--to', `sqlite:${copy}`, '--json'], {
      env,
    });
    t.equal(back.code, 0, back.stderr);
    t.strictSame(dumpWithoutCopies(copy), dumpWithoutCopies(records));
    const audited = ['audit', 'audit_state', 'command_events'];
    const summaries = ({ json }: typeof back) =>
      json.tables.filter(({ table }: { table: string }) => !audited.includes(table));
    t.same(summaries(back), summaries(there), 'counts and checksums are those of the same rows');
    const events = dumpOf(copy).audit!.filter((row) => row.includes('records_copied'));
    t.equal(events.length, 2, 'each copy is in the records that it wrote');
    t.ok(readFileSync(records).equals(bytes), 'the source is as it was');
  });

  t.test('a gateway on the copy takes the keys, tokens, cookies and cursors of before', async (t) => {
    const before = createCommandFolder(t);
    const running = await before.serve();
    await running.api.activate(username, signInPassword, bootstrapToken);
    const { accessToken, cookie } = await running.api.signIn(username, signInPassword);
    const { key: apiKey } = await running.api.mintKey(accessToken, { label: 'a', scopes: ['store:read'] });
    await running.api.mintKey(accessToken, { label: 'b', scopes: ['store:read'] });
    const page = await running.api.send({ path: '/api/admin/api-keys/?size=1', bearer: accessToken });
    const jwks = await running.api.send({ path: '/.well-known/jwks.json' });
    running.child.kill('SIGTERM');
    await running.ended;

    const stores = {
      records: newAddress(server),
      records_password: password,
      sessions: `sqlite:${join(before.folder, 'sessions.db')}`,
    };
    const after = createCommandFolder(t, { stores });
    const from = `sqlite:${join(before.folder, 'records.db')}`;
    const copied = await after.run(['records', 'copy', '--from', from]);
    t.match(copied, { code: 0, stdout: '' });
    const { api } = await after.serve();
    t.equal((await api.send({ path: '/api/store/asset/1', apiKey })).status, 200);
    t.equal((await api.send({ path: '/api/store/asset/1', bearer: accessToken })).status, 200);
    t.equal((await api.refresh(cookie)).status, 200);
    const next = { path: `/api/admin/api-keys/?size=1&cursor=${page.json.next_page}`, bearer: accessToken };
    t.match(await api.send(next), { status: 200, json: { items: [{ label: 'a' }] } });
    t.same((await api.send({ path: '/.well-known/jwks.json' })).json, jwks.json);
    t.equal((await api.activate('bob', signInPassword, bootstrapToken)).status, 409, 'activation is closed');
    const { accessToken: bearer } = await api.signIn(username, signInPassword);
    const audit = await api.send({ path: '/api/admin/audit/?event__eq=records_copied', bearer });
    t.match(audit.json.items, [{ actor: { user: null, kind: 'command_line' }, target: null }]);
  });

  t.test('where there is anything already, nothing is copied', async (t) => {
    const { run } = await createFilledFolder(t);
    const address = newAddress(server);
    const copy = ['records', 'copy', '--to', address];
    t.equal((await run(copy, { env })).code, 0);
    const again = await run(copy, { env });
    t.equal(again.code, 1);
    t.match(again.stderr, /\?schema=\w+ is not empty: there are rows in users, .*; nothing was copied\n$/);

    const started = createCommandFolder(t);
    await started.serve();
    const target = join(started.folder, 'records.db');
    const before = dumpOf(target);
    const refused = await run(['records', 'copy', '--to', `sqlite:${target}`]);
    t.equal(refused.code, 1);
    t.match(
      refused.stderr,
      /there are rows in signing_keys, secrets, applied_configurations; /,
      'a gateway has run there',
    );
    t.strictSame(dumpOf(target), before);
  });

  t.test('killed in the middle it leaves nothing there, and can be done again', async (t) => {
    const { run, configFile } = await createFilledFolder(t);
    const relay = await startTcpRelay(t, server);
    const address = newAddress(server);
    const throughRelay = address.replace(`:${server.port}`, `:${relay.port}`);
    t.equal((await run(['records', 'copy', '--to', newAddress(relay)], { env })).code, 0, 'it works');
    relay.delay(20);
    const args = ['records', 'copy', '--to', throughRelay, '--config', configFile];
    const { child, printed, ended } = startPostern(args, { env });
    await eventually('half of it', () => printed().stderr.includes('postern: identities: 2\n'));
    child.kill('SIGKILL');
    t.equal((await ended).code, null);
    for (const table of ['users', 'scope_sets', 'identities'])
      t.equal(await countIn(server, address, table), 0, table);
    t.equal(await countIn(server, address, 'bootstrap'), 1);
    const again = await run(['records', 'copy', '--to', address], { env });
    t.equal(again.code, 0, again.stderr);
    t.equal(await countIn(server, address, 'api_keys'), manyKeys + 4);
  });

  t.test('records can be rescued from a server that takes no writes', async (t) => {
    const { run, folder, records } = await createFilledFolder(t);
    const address = newAddress(server);
    await run(['records', 'copy', '--to', address], { env });
    await server.makeReadOnly();
    const copy = join(folder, 'rescued.db');
    const rescued = await run(['records', 'copy', '--from', address, '--to', `sqlite:${copy}`], { env });
    t.equal(rescued.code, 0, rescued.stderr);
    t.strictSame(dumpWithoutCopies(copy), dumpWithoutCopies(records));
    t.match(await run(['records', 'copy', '--to', newAddress(server)], { env }), { code: 1 });
    await server.makeWritable();
  });

  t.test('a source without records, or a wrong password, is one sentence', async (t) => {
    const { run, folder } = createCommandFolder(t);
    const target = join(folder, 'new.db');
    const from = ['records', 'copy', '--to', `sqlite:${target}`, '--from', newAddress(server)];
    t.match(await run(from, { env }), {
      code: 1,
      stderr: /^postern: --from postgres:\S+ has schema version 0; this version of Postern requires/,
    });
    const wrong = await run(from, { env: { POSTERN_RECORDS_PASSWORD: 'wrong-word' } });
    t.match(wrong, { code: 1, stderr: /^postern: --from postgres:\S+: can't be opened \(28P01 .*\)\n$/ });
    t.notMatch(wrong.stderr, 'wrong-word');
    t.notOk(existsSync(target));
  });
});

t.test('a source that is no file of records of this version is refused, and no target is made', async (t) => {
  const { run, folder } = createCommandFolder(t);
  const target = join(folder, 'target.db');
  const copyFrom = (from: string) => run(['records', 'copy', '--from', from, '--to', `sqlite:${target}`]);
  t.match(await copyFrom(`sqlite:${join(folder, 'none.db')}`), { code: 1, stderr: /none\.db: .*ENOENT/ });

  const old = join(folder, 'old.db');
  await fillRecords(old);
  const db = new Database(old);
  db.pragma('user_version = 1');
  db.close();
  const bytes = readFileSync(old);
  t.match(await copyFrom(`sqlite:${old}`), {
    code: 1,
    stderr: /old\.db: has schema version 1; this version of Postern requires/,
  });
  t.ok(readFileSync(old).equals(bytes));

  copyFileSync(import.meta.filename, join(folder, 'text.db'));
  t.match(await copyFrom(`sqlite:${join(folder, 'text.db')}`), { code: 1, stderr: /not an SQLite database/ });
  t.notOk(existsSync(target));
});

const wrongUsages = [
  { name: 'no address', args: [], says: /needs --from or --to/ },
  {
    name: 'no address of records',
    args: ['--to', 'redis://there'],
    says: /--to must be sqlite:PATH or postgres/,
  },
  {
    name: 'a password in the arguments',
    args: ['--to', 'postgres://postern:hunter2@db/postern'],
    says: /--to must hold no password: set POSTERN_RECORDS_PASSWORD\n/,
  },
];

for (const { name, args, says } of wrongUsages) {
  t.test(`records copy with ${name} is wrong usage`, async (t) => {
    const { code, stderr } = await createCommandFolder(t).run(['records', 'copy', ...args]);
    t.equal(code, 2);
    t.match(stderr, says);
    t.notMatch(stderr, 'hunter2');
  });
}
