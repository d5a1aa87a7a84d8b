import { spawn, spawnSync } from 'node:child_process';
import { chmodSync, cpSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import t from 'tap';
import { parse } from 'yaml';
import { createCommandFolder } from '../support/gateway/command.ts';
import { guessPort } from '../support/servers/loopback-port.ts';
import { requirePostgres } from '../support/stores/postgres-programs.ts';
import { startPostgres } from '../support/stores/postgres-server.ts';
import { requireRedis, startRedis } from '../support/stores/redis-server.ts';

const root = join(import.meta.dirname, '../..');

/** Runs the commands of its README, where `docker compose exec gateway postern …` is a command beside that gateway. */
const docker = `#!/bin/sh
while [ "$1" != postern ]; do shift; done
shift
exec node "$ROOT/src/main.ts" "$@" --config "$CONFIG"
`;

t.test('the example for Docker Compose, with its stores, role, user and service', async (t) => {
  if (!requireRedis(t) || !requirePostgres(t)) return;
  const folder = mkdtempSync(join(tmpdir(), 'postern-compose-'));
  t.teardown(() => rmSync(folder, { recursive: true, force: true }));
  cpSync(join(root, 'examples/compose'), folder, { recursive: true });
  const read = (file: string) => readFileSync(join(folder, file), 'utf8');
  t.equal(spawnSync('sh', [join(folder, 'make-secrets.sh')]).status, 0);
  const password = read('secrets/records').trim();

  const users = read('secrets/redis_acl').trim().split('\n');
  const redis = await startRedis(t, { users: users.map((line) => line.replace(/^user /, '')) });
  const postgres = await startPostgres(t);
  // The server of the tests has a role of that name.
  const sql = /^CREATE ROLE.*?(?=^SQL$)/ms.exec(read('postgres-role.sh'))![0];
  for (const statement of sql.split(';').filter((text) => text.trim() !== ''))
    await postgres.query(statement.replace(/\bpostern\b/, 'example').replace(":'password'", `'${password}'`));

  const servicePort = guessPort();
  const service = join(folder, 'service.mjs');
  writeFileSync(service, read('service.mjs').replace('listen(9000)', `listen(${servicePort}, '127.0.0.1')`));
  const child = spawn('env', ['-u', 'NODE_OPTIONS', process.execPath, service], { stdio: 'ignore' });
  t.teardown(() => child.kill('SIGKILL'));

  const config = parse(read('gateway/postern.yaml').replaceAll('/run/secrets', join(folder, 'secrets')));
  const { configFile, serve } = createCommandFolder(t, {
    ...config,
    upstreams: { notes: { url: `http://127.0.0.1:${servicePort}` } },
    stores: {
      ...config.stores,
      records: `postgres://example@127.0.0.1:${postgres.port}/postern?schema=acme`,
      sessions: `redis://127.0.0.1:${redis.port}`,
    },
  });
  const { port, managementPort } = await serve();
  t.equal((await fetch(`http://127.0.0.1:${managementPort}/readyz`)).status, 200);

  mkdirSync(join(folder, 'bin'));
  writeFileSync(join(folder, 'bin/docker'), docker);
  chmodSync(join(folder, 'bin/docker'), 0o755);
  const [, lines = ''] = [...read('README.md').matchAll(/^```sh\n(.*?)^```$/gms)].map(([, text]) => text!);
  const { NODE_OPTIONS: _, ...env } = process.env;
  const { stdout, stderr } = spawnSync(
    'sh',
    ['-ec', lines.replaceAll('localhost:8080', `127.0.0.1:${port}`)],
    {
      env: { ...env, PATH: `${join(folder, 'bin')}:${process.env.PATH}`, ROOT: root, CONFIG: configFile },
      encoding: 'utf8',
    },
  );
  t.match(stdout, /{"method":"GET","url":"\/api\/notes","username":"admin"/, stderr);
});
