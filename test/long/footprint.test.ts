import { execFileSync } from 'node:child_process';
import { setTimeout as sleep } from 'node:timers/promises';
import t, { type Test } from 'tap';
import { startGatewayProcess } from '../support/gateway/gateway-process.ts';
import { isLong } from '../support/gateway/gateway-under-load.ts';
import { cpuSeconds, mebibytes, residentBytes } from '../support/gateway/process-usage.ts';
import { requirePostgres } from '../support/stores/postgres-programs.ts';
import { startPostgres } from '../support/stores/postgres-server.ts';
import { requireRedis, startRedis } from '../support/stores/redis-server.ts';

const mostCpuSeconds = 1.5;
const mostIdleBytes = 120 * 2 ** 20;
/** Long enough for the garbage of an idle process to be collected, and for its heap to have grown for it. */
const idleMs = 60_000;
/** What is shipped, and nothing that the test runner would have every Node load. */
const shipped = [
  'env',
  '-u',
  'NODE_OPTIONS',
  '-u',
  'NODE_COMPILE_CACHE',
  process.execPath,
  'dist/main.js',
] as const;

t.setTimeout(240_000);

if (isLong) {
  execFileSync('env', ['-u', 'NODE_OPTIONS', 'npm', 'run', 'build'], { stdio: 'ignore' });

  t.test('on SQLite', (t) => measure(t, {}));

  t.test('on Redis and PostgreSQL, with an identity provider', async (t) => {
    if (!requireRedis(t) || !requirePostgres(t)) return;
    const [redis, postgres] = await Promise.all([startRedis(t), startPostgres(t)]);
    await measure(t, {
      stores: { sessions: redis.url, records: postgres.url },
      identity_providers: {
        acme: {
          issuer: 'https://id.example.com',
          client_id: 'postern',
          redirect_uri: 'https://acme.example.com/signed-in',
        },
      },
    });
  });
} else {
  t.pass('start and idleness cost little', { skip: 'bounds in time and memory: set POSTERN_TEST_LONG' });
}

/** Starts it, and measures when it is ready and again after a while without requests. */
async function measure(t: Test, config: object): Promise<void> {
  const gateway = await startGatewayProcess(t, { config, program: shipped });
  const { status } = await fetch(`http://127.0.0.1:${gateway.managementPort}/readyz`);
  const usedSeconds = cpuSeconds(gateway.pid!);
  t.equal(status, 200);
  t.ok(usedSeconds < mostCpuSeconds, `${usedSeconds} s of CPU until it was ready`);
  await sleep(idleMs);
  const idleBytes = residentBytes(gateway.pid!);
  t.ok(idleBytes < mostIdleBytes, `${mebibytes(idleBytes)} MiB when idle`);
}
