import { setTimeout as sleep } from 'node:timers/promises';
import t, { type Test } from 'tap';
import { eventually } from '../support/eventually.ts';
import { administrator } from '../support/gateway/gateway.ts';
import type { GatewayProcess } from '../support/gateway/gateway-process.ts';
import {
  auditLines,
  cookieOf,
  judgeOver,
  leeway,
  partsOf,
  sessionKey,
  startReplica,
  startReplicas,
  statusesAt,
} from '../support/gateway/replicas.ts';
import { startRedisSentinels } from '../support/stores/redis-sentinel.ts';
import { type RedisServer, requireRedis, startRedis } from '../support/stores/redis-server.ts';

const { username, password } = administrator;
// Long enough for a few requests on a busy machine.
const reuseGraceMs = 300;
const config = { sessions: { reuse_grace: `${reuseGraceMs}ms` } };
t.setTimeout(600_000);

/** Until a cookie that was just issued or presented may rotate. */
const graceIsOver = () => sleep(reuseGraceMs + 10);

/** The successor of a cookie whose grace period is over. */
async function rotate(gateway: GatewayProcess, cookie: string): Promise<string> {
  await graceIsOver();
  return cookieOf(await gateway.api.refresh(cookie));
}

/** Resolves once the gateway reports that it reaches its session store. */
async function reachesStore({ managementPort }: GatewayProcess): Promise<void> {
  await eventually('the session store is reached', async () => {
    const response = await fetch(`http://127.0.0.1:${managementPort}/readyz`);
    const { dependencies } = (await response.json()) as any;
    return dependencies.sessions.ok === true;
  });
}

/** The audit lines of reuse that ended a cookie's session; undefined if there are none. */
function reuseOf(folder: string, cookie: string): Record<string, unknown>[] | undefined {
  const { id } = partsOf(cookie);
  const lines = auditLines(folder, 'refresh_token_reused').filter(({ session }) => session === id);
  return lines.length > 0 ? lines : undefined;
}

interface Stage {
  readonly redis: RedisServer;
  readonly gateways: readonly [GatewayProcess, GatewayProcess];
}

async function startStage(t: Test): Promise<Stage> {
  const redis = await startRedis(t, { config: ['appendonly yes', 'appendfsync always'] });
  return { redis, gateways: await startReplicas(t, [redis.url, redis.url], config) };
}

/** What happens between the rotation and the replay; gives the gateways afterwards. */
const meanwhile: Readonly<Record<string, (t: Test, stage: Stage) => Promise<Stage['gateways']>>> = {
  'at another gateway': async (_, { gateways }) => gateways,
  'after Redis crashed and was restarted': async (_, { redis, gateways }) => {
    await redis.kill();
    await redis.restart();
    for (const gateway of gateways) await reachesStore(gateway);
    return gateways;
  },
  'after the gateways were restarted': async (t, { redis, gateways }) => {
    await Promise.all(gateways.map((gateway) => gateway.stop()));
    const start = () => startReplica(t, redis.url, config, gateways[0].folder);
    return Promise.all([start(), start()]);
  },
};

t.test('a cookie that is too old is reuse', async (t) => {
  if (!requireRedis(t)) return;
  const stage = await startStage(t);
  const { gateways, redis } = stage;
  const { folder } = gateways[0];
  for (const [when, pass] of Object.entries(meanwhile)) {
    const [one, two] = gateways;
    const { accessToken, cookie: first } = await one.api.signIn(username, password);
    const second = await rotate(one, first);
    await two.api.refresh(second);
    const third = await rotate(one, second);
    const spared = await one.api.signIn(username, password);
    const [here, there] = await pass(t, stage);
    const replayed = await there.api.refresh(first);
    const sinceMs = performance.now();
    t.match(replayed, { status: 401, json: { code: 'invalid_refresh_token' } }, when);
    t.same(replayed.setCookies, [], 'nothing is cleared');
    const all = { bearers: [accessToken], cookies: [first, second, third] };
    t.comment(`over everywhere within ${Math.round(await judgeOver(t, [here, there], all, sinceMs))} ms`);
    t.equal(await redis.command('EXISTS', sessionKey(first)), 0);
    const lines = await eventually('an audit line', () => reuseOf(folder, first));
    t.match(lines, [
      {
        session: partsOf(first).id,
        outcome: 'failure',
        actor: { user: lines[0]!.subject, kind: 'anonymous' },
      },
    ]);
    t.type(lines[0]!.subject, 'string');
    t.equal(lines.length, 1, 'once, however often it is replayed');
    t.same(await statusesAt(here, [spared.accessToken], [spared.cookie]), [200, 200], 'another session');
  }
});

t.test('the previous cookie, and the newest of a store that lost it', async (t) => {
  if (!requireRedis(t)) return;
  const { redis, gateways } = await startStage(t);
  const [one, two] = gateways;

  await t.test('the previous one is reuse once its grace period is over, and not before', async (t) => {
    const { accessToken, cookie: first } = await one.api.signIn(username, password);
    const second = await rotate(one, first);
    await graceIsOver();
    const another = cookieOf(await two.api.refresh(first));
    t.not(another, second, 'the successor may never have arrived: another one is issued');
    t.equal(cookieOf(await one.api.refresh(another)), another);
    await graceIsOver();
    t.equal((await two.api.refresh(first)).status, 401);
    const all = { bearers: [accessToken], cookies: [second, another] };
    await judgeOver(t, gateways, all, performance.now());
    t.equal((await eventually('an audit line', () => reuseOf(one.folder, first))).length, 1);
  });

  await t.test('a Redis that lost its last writes signs no one out', async (t) => {
    const { accessToken, cookie: first } = await one.api.signIn(username, password);
    const key = sessionKey(first);
    const earlier = (await redis.command('HGETALL', key)) as string[];
    const second = await rotate(one, first);
    await two.api.refresh(second);
    const third = await rotate(two, second);
    await redis.command('HSET', key, ...earlier);
    t.equal(cookieOf(await two.api.refresh(third)), third, 'the newest becomes the current one');
    t.equal(await redis.command('HGET', key, 'generation'), '3');
    t.equal(cookieOf(await one.api.refresh(second)), third, 'the previous one has its grace period');
    t.same(await statusesAt(one, [accessToken], [third]), [200, 200]);
    const fourth = await rotate(one, third);
    t.equal(partsOf(fourth).generation, 4, 'and it continues from there');
    t.notOk(reuseOf(one.folder, first));
  });
});

t.test('a failover to a replica that lagged behind signs no one out', async (t) => {
  if (!requireRedis(t)) return;
  const group = await startRedisSentinels(t);
  const [one, two] = await startReplicas(t, [group.url, group.url], config);
  const [master, replica] = group.nodes;
  const { accessToken, cookie: first } = await one.api.signIn(username, password);
  await master!.command('WAIT', 1, 2_000);
  replica!.pause();
  await master!.command('CLIENT', 'KILL', 'TYPE', 'replica');
  const second = await rotate(two, first);
  await one.api.refresh(second);
  const third = await rotate(one, second);
  const failedOver = group.failover();
  await eventually('the master is dead', () => master!.pid === null);
  replica!.resume();
  const promoted = await failedOver;
  t.equal(await promoted.command('HGET', sessionKey(first), 'generation'), '1', 'two rotations are lost');
  const sinceMs = performance.now();
  await Promise.all([reachesStore(one), reachesStore(two)]);
  const tookMs = performance.now() - sinceMs;
  t.ok(tookMs < 2_000 * leeway, `both reach it after ${Math.round(tookMs)} ms`);
  t.equal(cookieOf(await one.api.refresh(third)), third);
  t.equal(await promoted.command('HGET', sessionKey(first), 'generation'), '3');
  for (const gateway of [one, two])
    t.same(await statusesAt(gateway, [accessToken], [third, second]), [200, 200, 200]);
  t.notOk(reuseOf(one.folder, first));
});
