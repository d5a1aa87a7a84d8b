import { once } from 'node:events';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import t, { type Test } from 'tap';
import type { LoadOptions, LoadResult } from '../soak/load.ts';
import { growthPerMinute, type Reading, secondHalf } from '../soak/trend.ts';
import { administrator, bootstrapToken } from '../support/gateway/gateway.ts';
import { startGatewayProcess } from '../support/gateway/gateway-process.ts';
import { isLong } from '../support/gateway/gateway-under-load.ts';
import { spawnNode } from '../support/gateway/node-process.ts';
import { cpuSeconds, mebibytes, openDescriptors, residentBytes } from '../support/gateway/process-usage.ts';
import { requirePostgres } from '../support/stores/postgres-programs.ts';
import { startPostgres } from '../support/stores/postgres-server.ts';
import { requireRedis, startRedis } from '../support/stores/redis-server.ts';

/** Requests a second; in the full size for two hours. */
const rate = isLong ? 1_500 : 150;
const seconds = Number(process.env.POSTERN_TEST_SOAK_SECONDS ?? (isLong ? 7_200 : 10));
/** Less shows no trend: the figures are printed and not judged. */
const judgedSeconds = 600;
const mostMebibytesPerMinute = 1;
/** Streams come and go; a leak of one in a thousand requests would be 90 a minute. */
const mostDescriptorsPerMinute = 0.5;
const readingsWanted = 240;

const load = join(import.meta.dirname, '../soak/load.ts');
const service = join(import.meta.dirname, '../soak/upstream.ts');
const { username, password } = administrator;

t.setTimeout((seconds + 180) * 1_000);

/** Starts the service behind the gateway, as a process of its own; gives its address. */
async function startService(t: Test): Promise<string> {
  const child = spawnNode([service], { stdio: ['ignore', 'pipe', 'inherit'] });
  t.teardown(() => child.kill());
  const [port] = await once(child.stdout!, 'data');
  return `http://127.0.0.1:${String(port).trim()}`;
}

/** Runs the load in a process of its own, to its end. */
async function runLoad(t: Test, options: LoadOptions): Promise<LoadResult> {
  const child = spawnNode([load, JSON.stringify(options)], { stdio: ['ignore', 'pipe', 'inherit'] });
  t.teardown(() => child.kill());
  for await (const line of createInterface({ input: child.stdout! })) return JSON.parse(line);
  throw new Error('the load gave no result');
}

/** Reads what a process holds, from now on. */
function watch(pid: number) {
  const startedMs = performance.now();
  const memory: Reading[] = [];
  const descriptors: Reading[] = [];
  const read = () => {
    const second = (performance.now() - startedMs) / 1_000;
    memory.push({ second, value: mebibytes(residentBytes(pid)) });
    descriptors.push({ second, value: openDescriptors(pid) });
  };
  const timer = setInterval(read, Math.max(250, (seconds * 1_000) / readingsWanted));
  return {
    memory,
    descriptors,
    stop: () => clearInterval(timer),
  };
}

function figures(readings: readonly Reading[]): string {
  const values = readings.map(({ value }) => value);
  return `${values.at(0)} at first, ${values.at(-1)} at last, ${Math.min(...values)} to ${Math.max(...values)}`;
}

t.test(`${rate} mixed requests a second for ${seconds} s`, async (t) => {
  if (!requireRedis(t) || !requirePostgres(t)) return;
  const [postgres, redis, url] = [await startPostgres(t), await startRedis(t), await startService(t)];
  const gateway = await startGatewayProcess(t, {
    // Two hours of access lines are gigabytes. They are written all the same.
    logFile: '/dev/null',
    config: {
      stores: { records: `${postgres.url}?schema=soak`, sessions: redis.url },
      sessions: { reuse_grace: '10s' },
      tokens: { access_lifetime: '10m' },
      passwords: { memory: '19MiB', iterations: 2 },
      upstreams: { app: { url } },
    },
  });
  await gateway.api.activate(username, password, bootstrapToken);
  const { accessToken } = await gateway.api.signIn(username, password);
  const keys: string[] = [];
  while (keys.length < 40) {
    const minted = { label: `soak ${keys.length}`, scopes: ['store:read', 'store:write'] };
    keys.push((await gateway.api.mintKey(accessToken, minted)).key);
  }
  const pid = gateway.pid!;
  const watched = watch(pid);
  const cpuBefore = cpuSeconds(pid);
  const sessions = isLong ? 60 : 10;
  const result = await runLoad(t, { port: gateway.port, rate, seconds, username, password, keys, sessions });
  watched.stop();

  const memory = secondHalf(watched.memory, seconds);
  const descriptors = secondHalf(watched.descriptors, seconds);
  const slope = growthPerMinute(memory);
  const perSecond = Math.round(result.sent / seconds);
  t.comment(`${result.sent} requests, ${perSecond}/s, ${result.skipped} skipped`);
  t.comment(JSON.stringify(result.counts));
  t.comment(`CPU: ${Math.round(((cpuSeconds(pid) - cpuBefore) / seconds) * 100)} % of a core`);
  t.comment(`memory in the second half, MiB: ${figures(memory)}; ${slope.toFixed(2)} a minute`);
  const descriptorSlope = growthPerMinute(descriptors);
  t.comment(
    `descriptors in the second half: ${figures(descriptors)}; ${descriptorSlope.toFixed(2)} a minute`,
  );

  t.equal(result.unexpectedCount, 0, `nothing unexpected: ${result.unexpected.join('; ')}`);
  if (!isLong) return;
  t.ok(perSecond >= rate * 0.98, `the load reached ${perSecond}/s`);
  if (seconds < judgedSeconds) return t.pass('memory and descriptors are not judged', { skip: 'too short' });
  t.ok(slope < mostMebibytesPerMinute, `memory grows by ${slope.toFixed(2)} MiB a minute`);
  t.ok(
    descriptorSlope < mostDescriptorsPerMinute,
    `descriptors grow by ${descriptorSlope.toFixed(2)} a minute`,
  );
});
