import { spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { connect } from 'node:net';
import t from 'tap';
import { eventually } from '../support/eventually.ts';
import type { TestScope } from '../support/gateway/gateway.ts';
import { type GatewayProcess, startGatewayProcess } from '../support/gateway/gateway-process.ts';
import { isRunning, readyz, workersOf } from '../support/gateway/worker-processes.ts';
import { startHttpUpstream } from '../support/servers/http-upstream.ts';

const routes = [{ prefix: '/api', upstream: 'app', public: true }];
function startWorkers(t: TestScope, config: object = {}): Promise<GatewayProcess> {
  return startGatewayProcess(t, { config: { workers: 2, routes, ...config } });
}

t.test('signals to a worker are the supervisor’s to answer', async (t) => {
  const gateway = await startWorkers(t);
  const pids = workersOf(gateway.pid!);
  for (const pid of pids)
    for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) process.kill(pid, signal);
  for (let i = 0; i < 20; i++) t.equal((await gateway.api.send({ path: '/api/x' })).status, 200);
  t.strictSame(workersOf(gateway.pid!), pids);
});

t.test('the supervisor is killed: what is in flight finishes, and nothing is left behind', async (t) => {
  const { promise: mayEnd, resolve: end } = Promise.withResolvers<void>();
  const upstream = await startHttpUpstream(t, async (_request, response) => {
    response.write('first half, ');
    await mayEnd;
    response.end('second half');
  });
  const gateway = await startWorkers(t, { upstreams: { app: { url: upstream.url } } });
  const pids = workersOf(gateway.pid!);
  const inFlight = gateway.api.send({ path: '/api/slow' });
  await eventually('the request upstream', async () => (await upstream.connections()) === 1);
  await gateway.kill();
  await eventually('no listener', () => refuses(gateway.port));
  end();
  t.match(await inFlight, { status: 200, text: 'first half, second half' });
  await eventually('the end of the workers', () => !pids.some(isRunning));
});

t.test('SIGTERM: every worker drains, and the exit code is 0', async (t) => {
  const { promise: mayEnd, resolve: end } = Promise.withResolvers<void>();
  const upstream = await startHttpUpstream(t, async (_request, response) => {
    await mayEnd;
    response.end('done');
  });
  const gateway = await startWorkers(t, { upstreams: { app: { url: upstream.url } } });
  const inFlight = Array.from({ length: 8 }, () => gateway.api.send({ path: '/api/slow' }));
  await eventually('the requests upstream', async () => (await upstream.connections()) === 8);
  const stopped = gateway.stop();
  await eventually('draining', async () => (await readyz(gateway.managementPort)).status === 'draining');
  end();
  for (const { status } of await Promise.all(inFlight)) t.equal(status, 200);
  t.equal(await stopped, 0);
});

t.test('a worker that does not drain to its end is told by the exit code', async (t) => {
  const gateway = await startWorkers(t, { shutdown: { delay: '60s' } });
  const [one, two] = workersOf(gateway.pid!);
  const stopped = gateway.stop();
  await eventually('draining', async () => (await readyz(gateway.managementPort)).status === 'draining');
  for (const pid of [one!, two!]) process.kill(pid, 'SIGKILL');
  t.equal(await stopped, 1);
});

t.test('a second signal ends all of them at once, with 1', async (t) => {
  const gateway = await startWorkers(t, { shutdown: { delay: '60s' } });
  const pids = workersOf(gateway.pid!);
  const stopped = gateway.stop();
  await eventually('draining', async () => (await readyz(gateway.managementPort)).status === 'draining');
  process.kill(gateway.pid!, 'SIGTERM');
  t.equal(await stopped, 1);
  await eventually('the end of the workers', () => !pids.some(isRunning));
});

t.test('the supervisor goes on when the system has no room for another worker', async (t) => {
  const gateway = await startWorkers(t);
  const limit = (count: number) =>
    spawnSync('prlimit', ['--pid', String(gateway.pid), `--nofile=${count}:`]).status === 0;
  if (!limit(20)) {
    t.pass('needs prlimit', { skip: 'of util-linux' });
    return;
  }
  process.kill(workersOf(gateway.pid!)[0]!, 'SIGKILL');
  const line = await eventually('the line', () =>
    gateway.logLines().find(({ msg }) => msg === 'worker could not start'),
  );
  t.match(line.err, { message: /the system has no room for it/ });
  for (let i = 0; i < 10; i++) t.equal((await gateway.api.send({ path: '/api/x' })).status, 200);
  t.ok(limit(1_000));
  await eventually('another worker', async () => (await readyz(gateway.managementPort)).workers.ready === 2);
});

async function refuses(port: number): Promise<boolean> {
  const socket = connect(port, '127.0.0.1');
  const refused = await Promise.race([
    once(socket, 'connect').then(() => false),
    once(socket, 'error').then(() => true),
  ]).catch(() => true);
  socket.destroy();
  return refused;
}
