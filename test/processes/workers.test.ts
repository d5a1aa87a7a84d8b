import { connect } from 'node:net';
import t from 'tap';
import { createApiClient } from '../support/clients/api-client.ts';
import { openAskingClients } from '../support/clients/asking-clients.ts';
import { exchangeRaw } from '../support/clients/raw-client.ts';
import { eventually } from '../support/eventually.ts';
import { administrator, bootstrapToken, type TestScope } from '../support/gateway/gateway.ts';
import { type GatewayProcess, startGatewayProcess } from '../support/gateway/gateway-process.ts';
import { scrape } from '../support/gateway/scrape.ts';
import { createSecretWatch } from '../support/gateway/secret-watch.ts';
import { isRunning, readyz, socketsOf, workersOf } from '../support/gateway/worker-processes.ts';
import { guessPort } from '../support/servers/loopback-port.ts';

const routes = [{ prefix: '/api', upstream: 'app', public: true }];
function startWorkers(t: TestScope, config: object = {}): Promise<GatewayProcess> {
  return startGatewayProcess(t, { config: { workers: 2, routes, ...config } });
}

t.test('two workers are one gateway: one port, one readiness, its lines once', async (t) => {
  const gateway = await startWorkers(t);
  t.equal(workersOf(gateway.pid!).length, 2);
  t.strictSame(await readyz(gateway.managementPort), {
    code: 200,
    status: 'ready',
    dependencies: { records: { ok: true }, sessions: { ok: true } },
    workers: { ready: 2, of: 2 },
  });
  t.equal((await gateway.api.send({ path: '/api/x' })).status, 200);
  const pids = workersOf(gateway.pid!);
  t.equal(await gateway.stop(), 0);
  const created = gateway.logLines().filter(({ msg }) => msg === 'store file created');
  t.strictSame(created.map(({ store }) => store).sort(), ['records', 'sessions']);
  t.notOk(pids.some(isRunning));
});

t.test('connections spread over the workers', async (t) => {
  const gateway = await startWorkers(t);
  const pids = workersOf(gateway.pid!);
  const before = pids.map(socketsOf);
  const count = process.env.POSTERN_TEST_LONG ? 2_000 : 600;
  const sockets = Array.from({ length: count }, () => connect(gateway.port, '127.0.0.1'));
  t.teardown(() => {
    for (const socket of sockets) socket.destroy();
  });
  await eventually('all of them', async () => {
    return (await scrape(gateway.managementPort)).value('connections') === count;
  });
  for (const [index, pid] of pids.entries()) {
    const share = (socketsOf(pid) - before[index]!) / (count / pids.length);
    t.ok(share > 0.8 && share < 1.2, `a worker has ${share} of its even part`);
  }
});

t.test('requests say by one name that they have passed, whichever worker they came to', async (t) => {
  const gateway = await startWorkers(t);
  const names = new Set<string>();
  const ask = async () => {
    for (let i = 0; i < 40; i++) {
      const bytes = 'GET /api/x HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n';
      const { json } = (await exchangeRaw(gateway.port, bytes)).responses[0]!;
      const echoed: [string, string][] = json.headers;
      names.add(echoed.find(([name]) => name === 'Postern-Via')![1]);
    }
  };
  await ask();
  t.equal(names.size, 1);
  const [victim] = workersOf(gateway.pid!);
  process.kill(victim!, 'SIGKILL');
  await eventually('another in its place', async () => {
    const isReplaced = !isRunning(victim!) && workersOf(gateway.pid!).length === 2;
    return isReplaced && (await readyz(gateway.managementPort)).workers.ready === 2;
  });
  await ask();
  t.equal(names.size, 1, 'a worker that is started later has it, too');
});

t.test('a worker is killed under load: its connections break, no others, and a new one serves', async (t) => {
  const gateway = await startWorkers(t);
  const [victim, other] = workersOf(gateway.pid!);
  const before = socketsOf(victim!);
  const clients = await openAskingClients(t, gateway.port, 40);
  await eventually('a response each', () => clients.every(({ responses }) => responses() > 0));
  const held = socketsOf(victim!) - before;
  t.ok(held > 0 && held < clients.length, `${held} of ${clients.length} connections`);

  process.kill(victim!, 'SIGKILL');
  await eventually('the broken ones', () => clients.filter(({ isBroken }) => isBroken()).length === held);
  const afterwards = clients.filter(({ isBroken }) => !isBroken()).map((client) => client.responses());
  await eventually('a new worker', async () => {
    return (await readyz(gateway.managementPort)).workers.ready === 2;
  });
  const intact = clients.filter(({ isBroken }) => !isBroken());
  t.equal(intact.length, clients.length - held);
  t.ok(
    intact.every((client, index) => client.responses() > afterwards[index]!),
    'the others go on',
  );
  const [one, two] = workersOf(gateway.pid!);
  t.ok([one, two].includes(other) && ![one, two].includes(victim));
  const lines = await eventually('the lines', () => {
    const found = gateway.logLines().filter(({ worker }) => worker !== undefined);
    return found.length === 2 && found;
  });
  t.match(lines, [
    { level: 'error', msg: 'worker ended', reason: 'SIGKILL', restart_in_ms: 0 },
    { level: 'info', msg: 'worker restarted' },
  ]);
  t.equal((await scrape(gateway.managementPort)).value('worker_restarts_total'), 1);
});

t.test('work for a single process is done once: the bootstrap closes in all', async (t) => {
  const gateway = await startWorkers(t);
  const { username, password } = administrator;
  const activations = await Promise.all(
    Array.from({ length: 8 }, () => gateway.api.activate(username, password, bootstrapToken)),
  );
  t.strictSame(activations.map(({ status }) => status).sort(), [201, ...Array(7).fill(409)]);
});

t.test('the keys of assertions are the same on both listeners, from every worker', async (t) => {
  const upstreams = { app: { url: 'builtin:echo', assertion: { algorithm: 'EdDSA' } } };
  const { api, managementPort } = await startWorkers(t, { upstreams });
  const path = '/.well-known/postern-assertion-jwks.json';
  const managed = await fetch(`http://127.0.0.1:${managementPort}${path}`, {
    headers: { connection: 'close' },
  });
  const expected = await managed.json();
  t.match(expected, { keys: [{ kty: 'OKP' }] });
  for (let i = 0; i < 20; i++) t.strictSame((await api.send({ path })).json, expected);
});

t.test('every worker answers the proxies that ask for decisions', async (t) => {
  const port = guessPort();
  const gateway = await startWorkers(t, { forward_auth: [{ mode: 'nginx', port }] });
  const headers = { 'x-original-method': 'GET', 'x-original-uri': '/api/x' };
  const pids = workersOf(gateway.pid!);
  const before = pids.map(socketsOf);
  const asked = createApiClient(port, createSecretWatch());
  for (let i = 0; i < 20; i++) t.equal((await asked.send({ path: '/', headers })).status, 200);
  const sockets = Array.from({ length: 60 }, () => connect(port, '127.0.0.1'));
  t.teardown(() => {
    for (const socket of sockets) socket.destroy();
  });
  await eventually('all of them', () => {
    const more = pids.map((pid, index) => socketsOf(pid) - before[index]!);
    return more[0]! + more[1]! >= 60 && more.every((count) => count > 10);
  });
});

t.test('`workers: 1` is a single process, whatever `auto` would be', async (t) => {
  const gateway = await startGatewayProcess(t, { config: { workers: 1, routes } });
  t.strictSame(workersOf(gateway.pid!), []);
  t.notOk('workers' in (await readyz(gateway.managementPort)));
});
