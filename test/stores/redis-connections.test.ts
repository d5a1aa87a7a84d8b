import { setTimeout as sleep } from 'node:timers/promises';
import t from 'tap';
import { openRedisStoresUnderTest } from '../contract/redis-stores.ts';
import { judgeWithin } from '../support/clients/timed.ts';
import { eventually } from '../support/eventually.ts';
import { administrator } from '../support/gateway/gateway.ts';
import { isLong } from '../support/gateway/gateway-under-load.ts';
import { faults } from '../support/stores/redis-operations.ts';
import { startRedisRelay } from '../support/stores/redis-relay.ts';
import { startRedisSentinels } from '../support/stores/redis-sentinel.ts';
import { requireRedis } from '../support/stores/redis-server.ts';
import { startRelayStage } from '../support/stores/relay-stage.ts';

const timeout = 600_000;
t.setTimeout(timeout);

const { username, password } = administrator;
const backLimitMs = 2_000;

/**
 * The commands that set up and maintain connections and refresh caches; the effect of each failing once must be short.
 */
const upkeep = ['info', 'subscribe', 'ping', 'time', 'exists'];

/** Such a reply to SUBSCRIBE makes ioredis 6.0.0 throw where it can't be caught (DataHandler.returnReply). */
const unbearable: ReadonlySet<string> = new Set(['is answered a number', 'is answered nothing']);

t.test('the upkeep of connections may fail, too', { timeout }, async (t) => {
  if (!requireRedis(t)) return;
  const stores = { sessions_command_timeout: '200ms', sessions_liveness_age: '500ms' };
  const { relay, gateway, elsewhere } = await startRelayStage(t, { stores });
  const statusOf = async (bearer: string) =>
    (await gateway.api.send({ path: '/api/store/x', bearer })).status;
  const names = Object.keys(faults);
  const share = names.length / upkeep.length;
  for (const [index, command] of upkeep.entries())
    for (const fault of isLong ? names : names.slice(index * share, (index + 1) * share)) {
      if (command === 'subscribe' && unbearable.has(fault)) continue;
      await t.test(`${command} ${fault}`, async (t) => {
        const { accessToken, cookie } = await gateway.api.signIn(username, password);
        const armed = relay.arm({ fault: faults[fault]!, commands: [command] });
        if (command !== 'ping' && command !== 'exists') relay.cut();
        await eventually('it strikes', async () => {
          await Promise.all([statusOf(accessToken), gateway.api.refresh(cookie)]);
          return armed.struck > 0;
        });
        armed.disarm();
        const since = performance.now();
        await eventually('a refresh', async () => (await gateway.api.refresh(cookie)).status === 200);
        judgeWithin(t, 'it is available again', performance.now() - since, backLimitMs);
        t.equal(await statusOf(accessToken), 200);
        await elsewhere.api.send({ path: '/api/logout', cookie });
        await sleep(1_000);
        t.equal(await statusOf(accessToken), 401, 'a sign-out elsewhere takes effect within a second');
        t.ok(gateway.pid, 'the process is alive');
      });
    }
});

t.test('a Sentinel that never responds is skipped', { timeout }, async (t) => {
  if (!requireRedis(t)) return;
  const { url, sentinels } = await startRedisSentinels(t);
  const silent = await startRedisRelay(t, sentinels[0]!);
  silent.blackHole();
  const since = performance.now();
  const { sessions } = await openRedisStoresUnderTest(t, url.replace('://', `://127.0.0.1:${silent.port},`), {
    tenant: 'acme',
    commandTimeoutMs: 500,
  });
  await sessions.ping();
  judgeWithin(t, 'connected', performance.now() - since, backLimitMs);
});
