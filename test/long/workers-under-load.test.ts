import { once } from 'node:events';
import { copyFileSync } from 'node:fs';
import { createServer } from 'node:http';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import t, { type Test } from 'tap';
import { connectTo } from '../support/clients/tls-client.ts';
import { eventually } from '../support/eventually.ts';
import { type GatewayProcess, startGatewayProcess } from '../support/gateway/gateway-process.ts';
import { isLong } from '../support/gateway/gateway-under-load.ts';
import { echoUpgrade, MixedLoad, respondToLoad } from '../support/gateway/mixed-load.ts';
import { mebibytes, openDescriptors, residentBytes } from '../support/gateway/process-usage.ts';
import { readyz, workersOf } from '../support/gateway/worker-processes.ts';
import { requireProgram } from '../support/programs.ts';
import { makeCertificate } from '../support/servers/certificates.ts';
import { listenOnLoopback } from '../support/servers/http-upstream.ts';

/** Clients of each kind. */
const clients = isLong ? 24 : 4;
const reloads = isLong ? 10 : 3;
/** Reloads that must leave nothing behind, after so many as it takes to compile everything. */
const manyReloads = isLong ? 300 : 9;
const warmUps = isLong ? 60 : 3;
/** A heap for a gateway and some garbage; 300 configurations kept alive would be 180 MiB more. */
const heap = 'NODE_OPTIONS=--max-old-space-size=110 --max-semi-space-size=1';
/** Growth of a process over those reloads. */
const mostGrownBytes = 64 * 2 ** 20;

t.setTimeout(isLong ? 600_000 : 120_000);

const main = join(import.meta.dirname, '../../src/main.ts');

const configOf = (url: string, limit: number) => ({
  workers: 2,
  routes: [{ prefix: '/api', upstream: 'app', public: true }],
  upstreams: { app: { url, max_connections: 512 + 2 * limit } },
});

async function startService(t: Test): Promise<string> {
  const server = createServer(respondToLoad).on('upgrade', echoUpgrade);
  return `http://127.0.0.1:${await listenOnLoopback(t, server)}`;
}

const count = ({ logLines }: GatewayProcess, message: string) =>
  logLines().filter(({ msg }) => msg === message).length;

/** Has the gateway read what was configured, and waits until its log says `message` once more. */
async function signal(gateway: GatewayProcess, message: string): Promise<void> {
  const before = count(gateway, message);
  process.kill(gateway.pid!, 'SIGHUP');
  await eventually(message, () => count(gateway, message) > before);
}

async function presented(port: number): Promise<string> {
  const socket = connectTo(port);
  await once(socket, 'secureConnect');
  const { CN } = socket.getPeerCertificate().subject;
  socket.destroy();
  return String(CN);
}

async function isWholeAgain({ pid, managementPort }: GatewayProcess, victim: number): Promise<boolean> {
  return !workersOf(pid!).includes(victim) && (await readyz(managementPort)).workers.ready === 2;
}

t.test('reloads and a renewed certificate lose nothing, a crashed worker its own connections', async (t) => {
  if (!requireProgram(t, 'openssl')) return;
  const folder = t.testdir();
  const [first, second] = ['first', 'second'].map((name) => makeCertificate(folder, name, ['IP:127.0.0.1']));
  const files = { cert: join(folder, 'cert.pem'), key: join(folder, 'key.pem') };
  const write = ({ certFile, keyFile } = first!) => {
    copyFileSync(keyFile, files.key);
    copyFileSync(certFile, files.cert);
  };
  write();
  const url = await startService(t);
  const config = (limit: number) => ({
    ...configOf(url, limit),
    listen: { host: '127.0.0.1', port: 0, tls: files },
  });
  const gateway = await startGatewayProcess(t, { config: config(0) });
  const workers = workersOf(gateway.pid!);
  const load = new MixedLoad(gateway.port);
  await load.start(clients);
  for (let number = 1; number <= reloads; number++) {
    gateway.configure(config(number));
    await signal(gateway, 'configuration reloaded');
    await sleep(isLong ? 500 : 100);
  }
  write(second!);
  await eventually('the renewed certificate', async () => (await presented(gateway.port)) === 'second');
  await sleep(isLong ? 2_000 : 200);
  await load.stop();
  t.strictSame([...load.outcomes.keys()].sort(), ['fresh: whole', 'kept: whole', 'upload: whole']);
  t.equal(load.broken, 0, 'streams and WebSockets');
  t.strictSame(workersOf(gateway.pid!), workers, 'by the same workers');
  t.equal(count(gateway, 'configuration reloaded'), reloads);
  t.comment(JSON.stringify([...load.outcomes]));

  const crashed = new MixedLoad(gateway.port);
  await crashed.start(clients);
  process.kill(workers[0]!, 'SIGKILL');
  await eventually('another worker', () => isWholeAgain(gateway, workers[0]!), 60_000);
  await crashed.stop();
  t.ok(crashed.broken < 2 * clients, `${crashed.broken} of ${2 * clients} streams and WebSockets broke`);
  const lost = [...crashed.outcomes].filter(([outcome]) => !outcome.endsWith('whole'));
  const sum = lost.reduce((all, [, times]) => all + times, 0);
  t.ok(sum <= 3 * clients, `${sum} requests, at most the one of each client: ${JSON.stringify(lost)}`);
  t.notOk(
    lost.some(([outcome]) => outcome.includes('ECONNREFUSED')),
    'none was refused',
  );

  const after = new MixedLoad(gateway.port);
  await after.start(clients);
  await sleep(isLong ? 2_000 : 200);
  await after.stop();
  t.strictSame([...after.outcomes.keys()].sort(), ['fresh: whole', 'kept: whole', 'upload: whole']);
  t.equal(after.broken, 0);
});

t.test(
  `${manyReloads} reloads, a third of them invalid, leave no process, descriptor or memory`,
  async (t) => {
    const url = await startService(t);
    const gateway = await startGatewayProcess(t, {
      config: configOf(url, 0),
      program: ['env', heap, process.execPath, main],
    });
    const workers = workersOf(gateway.pid!);
    const family = [gateway.pid!, ...workers];
    const descriptors = () => family.map(openDescriptors);
    const resident = () => family.map(residentBytes);
    let before = { descriptors: descriptors(), resident: resident() };
    for (let number = 1; number <= warmUps + manyReloads; number++) {
      const isValid = number % 3 !== 0;
      gateway.configure(isValid ? configOf(url, number) : { nope: number });
      await signal(gateway, isValid ? 'configuration reloaded' : 'config_reload_failed');
      if (number === warmUps) before = { descriptors: descriptors(), resident: resident() };
    }
    t.strictSame(workersOf(gateway.pid!), workers);
    await eventually('no more descriptors', () =>
      descriptors().every((now, index) => now <= before.descriptors[index]!),
    );
    const grown = resident().map((now, index) => now - before.resident[index]!);
    t.comment(
      `supervisor and workers grew by ${grown.map(mebibytes)} MiB of ${before.resident.map(mebibytes)}`,
    );
    if (isLong) t.ok(Math.max(...grown) < mostGrownBytes, 'memory');
    t.equal(
      count(gateway, 'config_reload_failed'),
      Math.floor((warmUps + manyReloads) / 3),
      'each said once',
    );
  },
);
