import { setTimeout as sleep } from 'node:timers/promises';
import t from 'tap';
import { administrator } from '../support/gateway.ts';
import type { GatewayProcess } from '../support/gateway-process.ts';
import { isLong, repeat } from '../support/gateway-under-load.ts';
import { type RedisServer, requireRedis, startRedis } from '../support/redis-server.ts';
import { startReplicas } from '../support/replicas.ts';

const { username, password } = administrator;
const sessions = 100;
const requestsPerSecond = 100;
const seconds = isLong ? 30 : 6;
/** The test's own query takes two commands: one authenticates. */
const ownCommands = 2;
t.setTimeout(isLong ? 180_000 : 60_000);

/** How many commands a Redis has executed, without those of the test itself. */
function countCommands(redis: RedisServer): () => Promise<number> {
  let ownTotal = 0;
  return async () => {
    const stats = String(await redis.command('INFO', 'stats'));
    ownTotal += ownCommands;
    return Number(/^total_commands_processed:(\d+)/m.exec(stats)?.[1]) - ownTotal;
  };
}

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
  const commands = countCommands(redis);
  const idleBefore = await commands();
  await sleep(2_000);
  const idlePerSecond = ((await commands()) - idleBefore) / 2;
  const rows = { 'where they signed in': one, 'at another gateway, once it has seen them': other };
  for (const [where, gateway] of Object.entries(rows)) {
    await repeat(sessions, 4, async (index) => {
      await gateway.api.send({ path: '/api/store/x', bearer: bearers[index]! });
    });
    const before = await commands();
    const counts = await load(gateway, bearers);
    const requests = requestsPerSecond * seconds;
    // The gateway without requests sends its share of the idle commands.
    const sent = (await commands()) - before - (idlePerSecond / 2) * seconds;
    t.same(counts, { 200: requests });
    t.ok(sent / requests < 0.05, `${where}: ${Math.round(sent)} commands for ${requests} requests`);
  }
  t.comment(`${idlePerSecond} commands a second by two idle gateways`);
});
