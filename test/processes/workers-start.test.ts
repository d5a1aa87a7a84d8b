import { mkdirSync, readdirSync, renameSync } from 'node:fs';
import { createServer } from 'node:net';
import { join } from 'node:path';
import t from 'tap';
import { eventually } from '../support/eventually.ts';
import { createCommandFolder, startPostern } from '../support/gateway/command.ts';
import { startGatewayProcess } from '../support/gateway/gateway-process.ts';
import { isRunning, readyz, workersOf } from '../support/gateway/worker-processes.ts';

const workers = 2;

t.test('a port that anyone holds is the error of the start', async (t) => {
  for (const reusePort of [false, true]) {
    const server = createServer();
    await new Promise<void>((resolve) => server.listen({ host: '127.0.0.1', port: 0, reusePort }, resolve));
    t.teardown(() => server.close());
    const { port } = server.address() as { port: number };
    const { run } = createCommandFolder(t, { workers, listen: { host: '127.0.0.1', port } });
    t.match(await run(['serve']), {
      code: 1,
      stderr: `postern: can't listen on 127.0.0.1:${port} (listen): the address is in use; stop what listens there, or choose another port with listen.port\n`,
    });
  }
});

t.test('another gateway with workers does not join in on the port of the first', async (t) => {
  const { port } = await startGatewayProcess(t, { config: { workers } });
  const { run } = createCommandFolder(t, { workers, listen: { host: '127.0.0.1', port } });
  t.match(await run(['serve']), { code: 1, stderr: /the address is in use/ });
});

t.test('a fault that only a worker finds ends the start with its exit code and sentence', async (t) => {
  const { run } = createCommandFolder(t, { workers, users: { ada: {} } });
  const input = 'correct horse battery staple\n';
  t.equal((await run(['user', 'add', 'ada', '--admin'], { input })).code, 0);
  t.match(await run(['serve']), {
    code: 2,
    stderr: /postern\.yaml:\d+:3: users\.ada: a user of that name exists and is not managed/,
  });
});

t.test('a worker that ends before it was ever ready ends the start, and the other worker', async (t) => {
  const { configFile } = createCommandFolder(t, { workers });
  const { child, ended } = startPostern(['serve', '--config', configFile]);
  const pids = await eventually('the workers', () => {
    const found = workersOf(child.pid!);
    return found.length === workers && found;
  });
  process.kill(pids[1]!, 'SIGKILL');
  t.match(await ended, { code: 1, stderr: 'postern: a worker ended (SIGKILL)\n' });
  await eventually('the end of the other', () => !pids.some(isRunning));
});

t.test('a signal during the start just ends it', async (t) => {
  const { configFile } = createCommandFolder(t, { workers });
  const { child, ended } = startPostern(['serve', '--config', configFile]);
  const pids = await eventually('a worker', () => {
    const found = workersOf(child.pid!);
    return found.length > 0 && found;
  });
  child.kill('SIGTERM');
  t.equal((await ended).code, 0);
  await eventually('the end of the workers', () => !pids.some(isRunning));
});

t.test('a worker that can not start again is tried again, and the log says why', async (t) => {
  const gateway = await startGatewayProcess(t, { config: { workers } });
  const away = join(gateway.folder, 'away');
  const files = readdirSync(gateway.folder).filter((name) => /\.db/.test(name));
  mkdirSync(away);
  for (const name of files) renameSync(join(gateway.folder, name), join(away, name));
  process.kill(workersOf(gateway.pid!)[0]!, 'SIGKILL');
  const line = await eventually('the line', () =>
    gateway.logLines().find(({ msg }) => msg === 'worker could not start'),
  );
  t.match(line, { level: 'error', err: { message: /records\.db: does not exist/ }, restart_in_ms: 500 });
  t.match(await readyz(gateway.managementPort), { workers: { ready: 1, of: 2 } });
  for (const name of files) renameSync(join(away, name), join(gateway.folder, name));
  await eventually('another worker', async () => (await readyz(gateway.managementPort)).workers.ready === 2);
});
