import { setTimeout as sleep } from 'node:timers/promises';
import t from 'tap';
import { administrator } from '../support/gateway/gateway.ts';
import type { GatewayProcess } from '../support/gateway/gateway-process.ts';
import { isLong, repeat } from '../support/gateway/gateway-under-load.ts';
import { startReplicas } from '../support/gateway/replicas.ts';
import { type RedisServer, requireRedis, startRedis } from '../support/stores/redis-server.ts';

const { username, password } = administrator;
const sessions = 100;
const requestsPerSecond = 100;
const seconds = isLong ? 30 : 6;
t.setTimeout(600_000);

/** How many commands of each kind a Redis has executed. */
async function commandCounts(redis: RedisServer): Promise<ReadonlyMap<string, number>> {
  const stats = String(await redis.command('INFO', 'commandstats'));
  const calls = stats.matchAll(/^cmdstat_(\S+):calls=(\d+)/gm);
  return new Map([...calls].map(([, command = '', count]) => [command, Number(count)]));
}

/** What idle gateways send too, by time and not by request, and what the test itself sends. */
const notByRequest: ReadonlySet<string> = new Set(['ping', 'info', 'auth']);

/**
 * Sends that many requests a second for that long, each under the next of the tokens, and counts the responses by
 * status.
 */
async function load({ api }: GatewayProcess, bearers: readonly string[]): Promise<Record<number, number>> {
  const counts: Record<number, number> = {};
  const sent: Promise<void>[] = [];
  const startMs = performance.now();
  for (let index = 0; index < requestsPerSecond * seconds; index++) {
    const dueMs = startMs + (1_000 * index) / requestsPerSecond;
    if (dueMs > performance.now()) await sleep(dueMs - performance.now());
    const bearer = bearers[index % bearers.length]!;
    const answered = api.send({ path: '/api/store/x', bearer });
    sent.push(
      answered.then(({ status }) => {
        counts[status] = (counts[status] ?? 0) + 1;
      }),
    );
  }
  await Promise.all(sent);
  return counts;
}

t.test('a request with a token hardly ever costs a command', async (t) => {
  if (!requireRedis(t)) return;
  const redis = await startRedis(t);
  const [one, other] = await startReplicas(t, [redis.url, redis.url]);
  const bearers: string[] = [];
  await repeat(sessions, 4, async () => {
    bearers.push((await one.api.signIn(username, password)).accessToken);
  });
  const rows = { 'where they signed in': one, 'at another gateway, once it has seen them': other };
  for (const [where, gateway] of Object.entries(rows)) {
    await repeat(sessions, 4, async (index) => {
      await gateway.api.send({ path: '/api/store/x', bearer: bearers[index]! });
    });
    const before = await commandCounts(redis);
    const startMs = performance.now();
    const counts = await load(gateway, bearers);
    const requests = requestsPerSecond * seconds;
    const elapsedSeconds = (performance.now() - startMs) / 1_000;
    const after = await commandCounts(redis);
    const sent = (command: string) => (after.get(command) ?? 0) - (before.get(command) ?? 0);
    const byRequest = [...after.keys()].filter((command) => !notByRequest.has(command));
    const commands = byRequest.reduce((sum, command) => sum + sent(command), 0);
    const pingsPerSecond = sent('ping') / elapsedSeconds;
    t.same(counts, { 200: requests });
    t.ok(commands / requests < 0.05, `${where}: ${commands} commands for ${requests} requests`);
    t.ok(pingsPerSecond < 10, `${pingsPerSecond.toFixed(1)} pings a second by two gateways`);
  }
});
