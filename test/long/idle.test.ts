import { setTimeout as sleep } from 'node:timers/promises';
import t, { type Test } from 'tap';
import { startGatewayProcess } from '../support/gateway/gateway-process.ts';
import { isLong } from '../support/gateway/gateway-under-load.ts';
import { cpuMilliseconds, wakeUps } from '../support/gateway/process-usage.ts';
import { workersOf } from '../support/gateway/worker-processes.ts';
import { makeCertificate } from '../support/servers/certificates.ts';
import { requirePostgres } from '../support/stores/postgres-programs.ts';
import { startPostgres } from '../support/stores/postgres-server.ts';
import { requireRedis, startRedis } from '../support/stores/redis-server.ts';
import { makeTemporaryFolder } from '../support/temporary-folder.ts';

/** Bounds for each process of an idle gateway, a second. */
const embeddedBounds = { wakeUps: 10, cpuMs: 2 };
const remoteBounds = { wakeUps: 60, cpuMs: 12 };
/** Time until V8 has compiled what runs, and collected the garbage of the start. */
const settleMs = 60_000;
const measuredSeconds = 30;
/** Started as it is shipped, without what the test runner would have every Node load. */
const program = ['env', '-u', 'NODE_OPTIONS', process.execPath, 'src/main.ts'] as const;

t.setTimeout(600_000);

if (isLong) {
  t.jobs = 4;
  t.test('one process', (t) => measure(t, {}));

  t.test('one process, over TLS', async (t) => {
    const files = makeCertificate(makeTemporaryFolder('postern-test-'), 'server', ['DNS:localhost']);
    await measure(t, {
      base_url: 'https://localhost:8443',
      listen: { host: '127.0.0.1', port: 0, tls: { cert: files.certFile, key: files.keyFile } },
    });
  });

  t.test('a supervisor and its workers', (t) => measure(t, { workers: 2 }));

  t.test('Redis and PostgreSQL, which are polled for what no notification told', async (t) => {
    if (!requireRedis(t) || !requirePostgres(t)) return;
    const [redis, postgres] = await Promise.all([startRedis(t), startPostgres(t)]);
    await measure(t, { stores: { sessions: redis.url, records: postgres.url } }, remoteBounds);
  });
} else {
  t.pass('an idle gateway rarely wakes', { skip: 'bounds in time: set POSTERN_TEST_LONG' });
}

async function measure(t: Test, config: object, bounds = embeddedBounds): Promise<void> {
  const { pid } = await startGatewayProcess(t, { config, program });
  await sleep(settleMs);
  const before = [pid!, ...workersOf(pid!)].map(
    (each) => [each, wakeUps(each), cpuMilliseconds(each)] as const,
  );
  await sleep(measuredSeconds * 1_000);
  for (const [index, [each, woken, used]] of before.entries()) {
    const name = index === 0 ? 'the main process' : `worker ${index}`;
    const wakes = (wakeUps(each) - woken) / measuredSeconds;
    const cpuMs = (cpuMilliseconds(each) - used) / measuredSeconds;
    t.ok(wakes <= bounds.wakeUps, `${name}: ${wakes.toFixed(1)} wake-ups a second`);
    t.ok(cpuMs <= bounds.cpuMs, `${name}: ${cpuMs.toFixed(2)} ms of CPU a second`);
  }
}
