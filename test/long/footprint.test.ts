import { execFileSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { setTimeout as sleep } from 'node:timers/promises';
import t, { type Test } from 'tap';
import { startGatewayProcess } from '../support/gateway/gateway-process.ts';
import { isLong } from '../support/gateway/gateway-under-load.ts';
import { familyOf } from '../support/gateway/process-family.ts';
import { cpuSeconds, mebibytes } from '../support/gateway/process-usage.ts';
import { requirePostgres } from '../support/stores/postgres-programs.ts';
import { startPostgres } from '../support/stores/postgres-server.ts';
import { requireRedis, startRedis } from '../support/stores/redis-server.ts';

/** Twice what `npm run bench` allows: here it runs beside other tests. */
const mostCpuSeconds = 0.5;
const idleMs = 25_000;
/** What is shipped, and nothing that the test runner would have every Node load. */
const shipped = [
  'env',
  ...['-u', 'NODE_COMPILE_CACHE', 'NODE_OPTIONS=--max-semi-space-size=16'],
  process.execPath,
  'dist/main.js',
] as const;
/** Private memory of all processes, in MiB, after the start and when idle: bounds, and what more a configuration may take. */
const most = { started: 34, idle: 28 };

t.setTimeout(600_000);

if (isLong) {
  execFileSync('env', ['-u', 'NODE_OPTIONS', 'npm', 'run', 'build'], { stdio: 'ignore' });

  t.test('on SQLite', (t) => measure(t, {}));
  t.test('with pages and the console', (t) =>
    measure(t, { endpoints: { users: 'own' }, web: { console: {} } }, 8),
  );
  t.test('with a second worker', (t) => measure(t, { workers: 2 }, 60));
  t.test('on Redis and PostgreSQL', async (t) => {
    if (!requireRedis(t) || !requirePostgres(t)) return;
    const [redis, postgres] = await Promise.all([startRedis(t), startPostgres(t)]);
    await measure(t, { stores: { sessions: redis.url, records: postgres.url } }, 10);
  });
} else {
  t.pass('start and idleness cost little', { skip: 'bounds in time and memory: set POSTERN_TEST_LONG' });
}

/** Starts it, and measures when it is ready and again after a while without requests. */
async function measure(t: Test, config: object, more = 0): Promise<void> {
  const gateway = await startGatewayProcess(t, { config, program: shipped });
  const { status } = await fetch(`http://127.0.0.1:${gateway.managementPort}/readyz`);
  const pid = gateway.pid!;
  const usedSeconds = cpuSeconds(pid);
  t.equal(status, 200);
  t.ok(usedSeconds < mostCpuSeconds, `${usedSeconds} s of CPU until it was ready`);
  const privateMiB = () => mebibytes(familyOf(pid).reduce((sum, process) => sum + privateBytes(process), 0));
  const started = privateMiB();
  t.ok(started <= most.started + more, `${started} MiB after the start`);
  await sleep(idleMs);
  const idle = privateMiB();
  t.ok(idle <= most.idle + more, `${idle} MiB when idle`);
}

/** Memory that the process has written and shares with no other, in bytes. */
function privateBytes(pid: number): number {
  const memory = readFileSync(`/proc/${pid}/smaps_rollup`, 'utf8');
  return Number(/^Private_Dirty:\s*(\d+) kB$/m.exec(memory)![1]) * 1024;
}
