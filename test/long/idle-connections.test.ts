import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { connect, type Socket } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import t from 'tap';
import type { TestScope } from '../support/gateway/gateway.ts';
import { isLong, repeat, startGatewayUnderLoad } from '../support/gateway/gateway-under-load.ts';
import {
  descriptorLimit,
  mebibytes,
  openDescriptors,
  residentBytes,
} from '../support/gateway/process-usage.ts';

const connections = isLong ? 10_000 : 1_000;
/** Memory that either process takes for other reasons; it weighs more the fewer connections there are. */
const slackBytes = isLong ? 0 : 8 * 2 ** 20;
const spareDescriptors = 1_000;

/** A minimal Node server, for comparison. */
const bareServer = `
  const server = require('node:http').createServer((request, response) => response.end('{"ok":true}'));
  server.keepAliveTimeout = 600_000;
  server.listen(0, '127.0.0.1', 4096, () => process.stdout.write(String(server.address().port)));
`;

async function startBareServer(t: TestScope) {
  const child = spawn(process.execPath, ['-e', bareServer], { stdio: ['ignore', 'pipe', 'inherit'] });
  t.teardown(() => child.kill());
  const port = Number((await once(child.stdout, 'data'))[0]);
  return { port, pid: child.pid! };
}

/** Sends one request on a connection; returns how long the response took, in milliseconds. */
async function askOn(socket: Socket, request: string): Promise<number> {
  const start = performance.now();
  socket.write(request);
  const [response] = await once(socket, 'data');
  if (!String(response).startsWith('HTTP/1.1 200 ')) throw new Error(String(response));
  return performance.now() - start;
}

async function open(port: number): Promise<Socket> {
  const socket = connect(port, '127.0.0.1');
  await once(socket, 'connect');
  return socket;
}

/** How much memory idle connections, each after one request, add to a warm server. */
async function growthWithConnections(server: { port: number; pid: number }, request: string) {
  const warm = await open(server.port);
  for (let i = 0; i < 2_000; i++) await askOn(warm, request);
  const before = residentBytes(server.pid);
  const idle: Socket[] = [];
  await repeat(connections, 50, async () => {
    const socket = await open(server.port);
    await askOn(socket, request);
    idle.push(socket);
  });
  await sleep(2_000);
  return { growth: residentBytes(server.pid) - before, warm, idle };
}

async function closeAll(sockets: readonly Socket[]): Promise<void> {
  for (const socket of sockets) socket.resetAndDestroy();
  await sleep(500);
}

t.setTimeout(isLong ? 300_000 : 60_000);

t.test(`${connections} idle connections cost little, and others are served`, async (t) => {
  if (descriptorLimit() < connections + spareDescriptors) {
    t.pass('needs descriptors', { skip: `the limit is ${descriptorLimit()}` });
    return;
  }
  const bare = await startBareServer(t);
  const reference = await growthWithConnections(bare, 'GET / HTTP/1.1\r\nHost: a\r\n\r\n');
  await closeAll([...reference.idle, reference.warm]);

  const gateway = await startGatewayUnderLoad(t, {
    limits: { connections: connections + spareDescriptors, keep_alive_timeout: '10m' },
    log: { level: 'warn' },
  });
  const request = gateway.raw('GET /api/store/x HTTP/1.1');
  const { growth, warm, idle } = await growthWithConnections(gateway, request);
  const ratio = growth / reference.growth;
  t.comment(
    `${mebibytes(growth)} MiB, a bare server ${mebibytes(reference.growth)} MiB: ${ratio.toFixed(2)}`,
  );
  if (isLong)
    t.ok(growth <= 1.25 * reference.growth + slackBytes, 'at most 1.25 times as much as a bare server');
  t.ok(openDescriptors(gateway.pid) >= connections, 'all of them are still open');

  const latencies: number[] = [];
  for (let i = 0; i < 2_000; i++) latencies.push(await askOn(warm, request));
  const p99 = latencies.toSorted((a, b) => a - b)[Math.floor(latencies.length * 0.99)]!;
  t.comment(`p99 ${p99.toFixed(2)} ms`);
  if (isLong) t.ok(p99 < 50, 'a valid request is served within 50 ms meanwhile');
  await closeAll([...idle, warm]);
});
