import { spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout } from 'node:timers/promises';
import argon2 from 'argon2';
import t from 'tap';
import { connectTo } from '../support/clients/tls-client.ts';
import { eventually } from '../support/eventually.ts';
import { administrator, bootstrapToken } from '../support/gateway/gateway.ts';
import { type GatewayProcess, startGatewayProcess } from '../support/gateway/gateway-process.ts';
import { keysAreNamed, reload } from '../support/gateway/reload.ts';
import { scrape } from '../support/gateway/scrape.ts';
import { readyz, replaceWorker, workersOf } from '../support/gateway/worker-processes.ts';
import { makeCertificate } from '../support/servers/certificates.ts';
import { makeTemporaryFolder } from '../support/temporary-folder.ts';

const password = 'a password of the tests';
const passwordHash = await argon2.hash(password, { memoryCost: 64, timeCost: 1, parallelism: 1 });
const workers = 2;
const open = { workers, routes: [{ prefix: '/api', upstream: 'app', public: true }] };
const closed = { workers, routes: [{ prefix: '/api', upstream: 'app' }] };

/** The statuses that so many connections get: enough to reach every worker. */
async function statuses({ api }: GatewayProcess): Promise<number[]> {
  const responses = await Promise.all(Array.from({ length: 40 }, () => api.send({ path: '/api/x' })));
  return [...new Set(responses.map(({ status }) => status))];
}

t.test('another configuration serves in all workers, and in one that starts later', async (t) => {
  const gateway = await startGatewayProcess(t, { config: open });
  t.strictSame(await statuses(gateway), [200]);
  reload(gateway, closed);
  await eventually('it is applied', () =>
    gateway.logLines().some(({ msg }) => msg === 'configuration reloaded'),
  );
  t.strictSame(await statuses(gateway), [401]);
  const [one] = workersOf(gateway.pid!);
  process.kill(one!, 'SIGKILL');
  await eventually('another one', async () => {
    return (
      (await readyz(gateway.managementPort)).workers.ready === 2 && !workersOf(gateway.pid!).includes(one!)
    );
  });
  t.strictSame(await statuses(gateway), [401]);
  const lines = gateway.logLines().filter(({ msg }) => msg === 'configuration reloaded');
  t.equal(lines.length, 1, 'not once for each worker, nor for the file that the signal had read');
});

t.test('a configuration that a worker finds not to fit the records is served by none', async (t) => {
  const gateway = await startGatewayProcess(t, { config: open });
  const { username, password } = administrator;
  await gateway.api.activate(username, password, bootstrapToken);
  reload(gateway, { ...closed, users: { [username]: {} } });
  const line = await eventually('it is reported', () =>
    gateway.logLines().find(({ msg }) => msg === 'config_reload_failed'),
  );
  t.match(line.problems, [/:\d+:3: users\.ada: a user of that name exists and is not managed/]);
  t.strictSame(await statuses(gateway), [200]);
  // The file is polled once a second: its change is the one that the signal was about.
  await setTimeout(2_500);
  t.equal(gateway.logLines().filter(({ msg }) => msg === 'config_reload_failed').length, 1);
  const metrics = await scrape(gateway.managementPort);
  t.equal(metrics.value('config_reloads_total', { outcome: 'failed' }), 1, 'counted once');
  t.equal(metrics.value('config_last_reload_successful'), 0);
});

t.test('a worker that does not respond holds up no reload, and is replaced', async (t) => {
  const gateway = await startGatewayProcess(t, { config: open });
  const [stuck] = workersOf(gateway.pid!);
  process.kill(stuck!, 'SIGSTOP');
  reload(gateway, closed);
  await eventually('it is applied', () =>
    gateway.logLines().some(({ msg }) => msg === 'configuration reloaded'),
  );
  await eventually('another one', async () => {
    const { ready } = (await readyz(gateway.managementPort)).workers;
    return ready === 2 && !workersOf(gateway.pid!).includes(stuck!);
  });
  t.strictSame(await statuses(gateway), [401]);
  t.notOk(gateway.logLines().some(({ msg }) => msg === 'config_reload_failed'));
});

t.test('a worker that can not turn to what another has judged is replaced', async (t) => {
  const gateway = await startGatewayProcess(t, { config: open });
  const [one] = workersOf(gateway.pid!);
  // Without a descriptor it can't start the echo of another configuration.
  if (spawnSync('prlimit', ['--pid', String(one), '--nofile=20:']).status !== 0)
    return t.pass('needs prlimit', { skip: 'of util-linux' });
  // The other one judges.
  process.kill(one!, 'SIGSTOP');
  reload(gateway, closed);
  await eventually('the other has turned', async () => {
    // All of them may wait for the one that stands still, which is given up after some seconds.
    const asked = Promise.any([1, 2, 3, 4].map(() => gateway.api.send({ path: '/api/x' })));
    const late = setTimeout(300, { status: 0 });
    return (await Promise.race([asked, late])).status === 401;
  });
  process.kill(one!, 'SIGCONT');
  const line = await eventually('it is said', () =>
    gateway.logLines().find(({ msg }) => /is being replaced$/.test(String(msg))),
  );
  t.match(line, { level: 'warn', worker: 1, err: { message: /EMFILE/ } });
  await eventually('another one', async () => {
    const { ready } = (await readyz(gateway.managementPort)).workers;
    return ready === 2 && !workersOf(gateway.pid!).includes(one!);
  });
  t.strictSame(await statuses(gateway), [401]);
  t.notOk(gateway.logLines().some(({ msg }) => msg === 'config_reload_failed'));
});

t.test('users of the configuration are judged once, and put back by another reading', async (t) => {
  const root = { scope_sets: ['administrator'], password_hash: passwordHash };
  const [old, next] = [
    { root, grace: {} },
    { root, alan: {} },
  ];
  const gateway = await startGatewayProcess(t, { config: { ...open, users: old } });
  const replica = await startGatewayProcess(t, {
    folder: gateway.folder,
    config: { ...open, users: old },
  });
  const { accessToken: bearer } = await gateway.api.signIn('root', password);
  const audit = async () => {
    const path = '/api/admin/audit/?size=100&sort_order=asc&event__eq=configuration_superseded';
    return (await gateway.api.send({ path, bearer })).json.items.map(({ target }: any) => target.id);
  };
  const reloadTo = async (users: object, numbers: readonly string[]) => {
    reload(gateway, { ...open, users });
    await eventually('it is applied', async () => `${await audit()}` === `${numbers}`);
  };
  t.strictSame(await audit(), [], 'the second start takes a number, and supersedes nothing');
  await reloadTo(next, ['2']);
  const successful = async ({ managementPort }: GatewayProcess) =>
    (await scrape(managementPort)).value('config_last_reload_successful');
  await eventually('the replica notices', async () => (await successful(replica)) === 0);
  await replaceWorker(replica);
  t.strictSame(await audit(), ['2'], 'a worker that is started again is no start');
  await reloadTo(old, ['2', '3']);
  await eventually('the replica is in force again', async () => (await successful(replica)) === 1);
  t.equal(await successful(gateway), 1);
});

t.test('the number of workers needs a restart, and is reported', async (t) => {
  const gateway = await startGatewayProcess(t, { config: open });
  reload(gateway, { ...closed, workers: 3 });
  await keysAreNamed(gateway, ['workers']);
  t.strictSame(await statuses(gateway), [401], 'the rest is applied');
  t.equal(workersOf(gateway.pid!).length, 2);
  t.equal((await scrape(gateway.managementPort)).value('config_restart_needed'), 1);
});

t.test('a renewed certificate is read once, and presented by all workers', async (t) => {
  const folder = makeTemporaryFolder('postern-workers-');
  t.teardown(() => rmSync(folder, { recursive: true, force: true }));
  const files = { cert: join(folder, 'cert.pem'), key: join(folder, 'key.pem') };
  const write = (name: string) => {
    const { cert, key } = makeCertificate(folder, name, ['IP:127.0.0.1']);
    writeFileSync(files.key, key);
    writeFileSync(files.cert, cert);
  };
  write('first');
  const gateway = await startGatewayProcess(t, {
    config: { ...open, listen: { host: '127.0.0.1', port: 0, tls: files } },
  });
  const expiry = (await scrape(gateway.managementPort)).value('certificate_expiry_timestamp_seconds');
  t.ok(expiry > Date.now() / 1_000, 'once, not once for each worker');
  t.strictSame(await presented(gateway.port), ['first']);
  write('second');
  await eventually('all present it', async () => (await presented(gateway.port)).join() === 'second');
  await gateway.stop();
  t.equal(gateway.logLines().filter(({ msg }) => msg === 'TLS files reloaded').length, 1);
});

/** The names in the certificates that so many connections are presented. */
async function presented(port: number): Promise<string[]> {
  const connections = Array.from({ length: 20 }, async () => {
    const socket = connectTo(port);
    await once(socket, 'secureConnect');
    const { CN } = socket.getPeerCertificate().subject;
    socket.destroy();
    return String(CN);
  });
  return [...new Set(await Promise.all(connections))].sort();
}
