import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Client, type ClientConfig } from 'pg';
import t, { type Test } from 'tap';
import { eventually } from '../support/eventually.ts';
import { isRunning } from '../support/gateway/process-family.ts';
import { requireProgram } from '../support/programs.ts';
import { makeCertificate } from '../support/servers/certificates.ts';
import { requirePostgres } from '../support/stores/postgres-programs.ts';
import { startPostgres } from '../support/stores/postgres-server.ts';
import { startPostgresStandby } from '../support/stores/postgres-standby.ts';

const serverModule = new URL('../support/stores/postgres-server.ts', import.meta.url);

async function connectClient(t: Test, url: string, config: ClientConfig = {}): Promise<Client> {
  const client = new Client({ connectionString: url, ...config });
  client.on('error', () => {});
  t.teardown(() => client.end());
  await client.connect();
  return client;
}

t.test('servers that start together are separate', async (t) => {
  if (!requirePostgres(t)) return;
  const servers = await Promise.all([
    startPostgres(t),
    startPostgres(t, { config: ['max_connections = 7'] }),
  ]);
  const limits = servers.map(async ({ url }) => {
    const client = await connectClient(t, url);
    await client.query('CREATE TABLE own (a int)');
    return (await client.query('SHOW max_connections')).rows[0].max_connections;
  });
  t.same(await Promise.all(limits), ['100', '7']);
  t.not(servers[0]!.port, servers[1]!.port);
});

t.test('a server is killed, stopped and started again', async (t) => {
  if (!requirePostgres(t)) return;
  const server = await startPostgres(t);
  const { pid, port } = server;
  const client = await connectClient(t, server.url);
  const ended = new Promise((resolve) => client.once('end', resolve));
  await client.query(`CREATE TABLE kept AS SELECT 'committed' AS what`);
  await client.query(`BEGIN; INSERT INTO kept VALUES ('not committed')`);
  const busy = connectClient(t, server.url).then((client) => client.query('SELECT pg_sleep(60)'));
  const [sleeper] = await eventually('it is stopped', async () => {
    const rows = await server.query<{ pid: number }>(
      `SELECT pid FROM pg_stat_activity WHERE query LIKE 'SELECT pg_sleep%' AND usename = 'postern'`,
    );
    return rows.length > 0 && rows;
  });
  await Promise.all([server.kill(), t.rejects(busy)]);
  await ended;
  t.equal(server.pid, null);
  t.notOk(isRunning(sleeper!.pid), 'its children have ended, too');
  await t.rejects(server.query('SELECT 1'));

  for (const before of ['killed', 'running']) {
    await server.restart();
    t.not(server.pid, pid);
    t.equal(server.port, port);
    const after = await connectClient(t, server.url);
    t.same((await after.query('SELECT what FROM kept')).rows, [{ what: 'committed' }], before);
  }
  const notified = connectClient(t, server.url).then((client) => once(client, 'error'));
  await eventually('it is running', async () => (await sessions()) === 2);
  await server.stop();
  t.match(await notified, [{ code: '57P01' }], 'clients are notified of a stop');

  async function sessions(): Promise<number> {
    const [row] = await server.query(
      `SELECT count(*)::int AS open FROM pg_stat_activity WHERE usename = 'postern'`,
    );
    return row!.open;
  }
});

t.test('a server is paused and resumed', async (t) => {
  if (!requirePostgres(t)) return;
  const server = await startPostgres(t);
  const client = await connectClient(t, server.url);
  await client.query('CREATE TABLE late (a int)');
  server.pause();
  let isAnswered = false;
  const inserted = client.query('INSERT INTO late VALUES (1)').then(() => {
    isAnswered = true;
  });
  const stranger = new Client({ connectionString: server.url, connectionTimeoutMillis: 200 });
  await t.rejects(stranger.connect(), /timeout/);
  t.notOk(isAnswered);
  server.resume();
  await inserted;
  t.same((await client.query('SELECT a FROM late')).rows, [{ a: 1 }]);
  server.pause();
  await server.stop();
  t.equal(server.pid, null, 'a pause does not prevent it');
  await server.restart();
  server.pause();
});

t.test('a server refuses writes for a while', async (t) => {
  if (!requirePostgres(t)) return;
  const server = await startPostgres(t);
  const client = await connectClient(t, server.url);
  await client.query('CREATE TABLE words (a int)');
  const notified = once(client, 'error');
  await server.makeReadOnly();
  t.match(await notified, [{ code: '57P01' }]);
  const after = await connectClient(t, server.url);
  await t.rejects(after.query('INSERT INTO words VALUES (1)'), { code: '25006' });
  await server.query('INSERT INTO words VALUES (2)');
  await server.makeWritable();
  await after.query('INSERT INTO words VALUES (3)');
  t.same((await after.query('SELECT a FROM words')).rows, [{ a: 2 }, { a: 3 }]);
});

t.test('a server accepts only TLS', async (t) => {
  if (!requirePostgres(t) || !requireProgram(t, 'openssl')) return;
  const folder = mkdtempSync(join(tmpdir(), 'postern-certificate-'));
  t.teardown(() => rmSync(folder, { recursive: true }));
  const tls = makeCertificate(folder, 'postgres', ['IP:127.0.0.1']);
  const { url } = await startPostgres(t, { tls });
  const client = await connectClient(t, url, { ssl: { ca: tls.cert } });
  const { rows } = await client.query('SELECT ssl FROM pg_stat_ssl WHERE pid = pg_backend_pid()');
  t.same(rows, [{ ssl: true }]);
  await t.rejects(connectClient(t, url), { code: '28000' });
});

t.test('a password is required, and the role is not a superuser', async (t) => {
  if (!requirePostgres(t)) return;
  const { url } = await startPostgres(t);
  await t.rejects(connectClient(t, url.replace('secret', 'wrong')), { code: '28P01' });
  const client = await connectClient(t, url);
  t.same((await client.query('SHOW is_superuser')).rows, [{ is_superuser: 'off' }]);
});

t.test('a standby is promoted', async (t) => {
  if (!requirePostgres(t)) return;
  const primary = await startPostgres(t);
  const client = await connectClient(t, primary.url);
  await client.query('CREATE TABLE words (a int)');
  const standby = await startPostgresStandby(t, primary, { config: ['recovery_min_apply_delay = 300ms'] });
  await client.query('INSERT INTO words VALUES (1)');
  await standby.caughtUp();
  const reader = await connectClient(t, standby.url);
  t.same((await reader.query('SELECT a FROM words')).rows, [{ a: 1 }]);
  await t.rejects(reader.query('INSERT INTO words VALUES (2)'), { code: '25006' });
  await primary.kill();
  await standby.promote();
  await reader.query('INSERT INTO words VALUES (2)');
  t.ok(standby.pid);
  await standby.restart();
  t.same(await standby.query('SELECT count(*)::int FROM words'), [{ count: 2 }]);
});

t.test('a server and its folder do not outlive the process that started it', async (t) => {
  if (!requirePostgres(t)) return;
  const script = `
    const { startPostgres } = await import('${serverModule}');
    const server = await startPostgres({ teardown() {} });
    server.pause();
    process.stdout.write(JSON.stringify({ pid: server.pid, folder: server.folder }));
    setInterval(() => {}, 1000);
  `;
  const child = spawn(process.execPath, ['--input-type=module', '-e', script], {
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  const { pid, folder } = JSON.parse(String((await once(child.stdout, 'data'))[0]));
  t.ok(isRunning(pid) && existsSync(folder));
  child.kill('SIGKILL');
  await eventually('its end', () => !isRunning(pid) && !existsSync(folder));
});
