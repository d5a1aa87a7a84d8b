import { setTimeout as sleep } from 'node:timers/promises';
import t, { type Test } from 'tap';
import type { ApiResponse } from '../support/clients/api-client.ts';
import { judgeWithin } from '../support/clients/timed.ts';
import { eventually } from '../support/eventually.ts';
import type { GatewayProcess } from '../support/gateway/gateway-process.ts';
import { isLong } from '../support/gateway/gateway-under-load.ts';
import { cookieOf, leeway, logText, partsOf, sessionKey } from '../support/gateway/replicas.ts';
import {
  commandsOf,
  commandTimeoutMs,
  delayMs,
  faults,
  isOfOperation,
  type Operation,
  operations,
  type Situation,
  startOperationStage,
  stored,
} from '../support/stores/redis-operations.ts';
import { requireRedis } from '../support/stores/redis-server.ts';
import { passGrace, type RelayStage } from '../support/stores/relay-stage.ts';
import { judgeUnavailable } from '../support/stores/unavailable.ts';

const timeout = isLong ? 1_200_000 : 600_000;
t.setTimeout(timeout);

/** How much longer than the timeout of its command a response may take, ms: the promised ten percent of the default. */
const slackMs = 50;
const backLimitMs = 2_000;

const faultNames = Object.keys(faults);

/** A series of faults. */
interface Row {
  readonly operation: Operation;
  /** The number of the command within the operation, and its name. */
  readonly at: number;
  readonly command: string;
  readonly fault: string;
}

t.test('no failing command loses a session', { timeout }, async (t) => {
  if (!requireRedis(t)) return;
  const stage = await startOperationStage(t);
  const rows = Object.fromEntries(faultNames.map((fault) => [fault, 0]));
  const responses: Record<number, number> = {};
  let next = 0;
  for (const [name, operation] of Object.entries(operations)) {
    const perform = async () => operation.run(stage, await operation.prepare(stage));
    t.equal((await perform()).status, operation.good, `${name} without a fault`);
    const situation = await operation.prepare(stage);
    const commands = await commandsOf(stage.relay, () => operation.run(stage, situation));
    t.ok(commands.length > 0, `${name}: ${commands.join(', ')}`);
    for (const [index, command] of commands.entries()) {
      // Each fault and each command is covered in every run, all pairs of them in the long one.
      for (const fault of isLong ? faultNames : [faultNames[next++ % faultNames.length]!]) {
        const row = { operation, at: index + 1, command, fault };
        await t.test(`${name}: command ${row.at} (${command}) ${fault}`, async (t) => {
          const { status } = await judge(t, stage, row);
          rows[fault]! += 1;
          responses[status] = (responses[status] ?? 0) + 1;
        });
      }
    }
  }
  t.notMatch(logText(stage.gateway.folder), /"internal error"/);
  t.comment('rows', rows);
  t.comment('answers', responses);
});

async function judge(t: Test, stage: RelayStage, row: Row): Promise<ApiResponse> {
  const { redis, relay, gateway } = stage;
  const { operation } = row;
  await redis.command('FLUSHALL');
  const situation = await operation.prepare(stage);
  const armed = relay.arm({ fault: faults[row.fault]!, at: row.at, commands: isOfOperation });
  let struckAt = Number.NaN;
  const struck = armed.hasStruck.then(() => {
    struckAt = performance.now();
  });
  const response = await operation.run(stage, situation);
  const tookMs = performance.now() - struckAt;
  await struck;
  armed.disarm();
  judgeResponse(t, row, response);
  if (response.status === 503) {
    judgeWithin(t, 'it is answered', tookMs, commandTimeoutMs + slackMs);
    await judgeNothingLater(t, stage, row, struckAt);
  }
  await relay.restore();
  await goOn(t, stage, row, situation, response);
  t.ok(gateway.pid, 'the process is alive');
  return response;
}

function judgeResponse(t: Test, { operation, command, fault }: Row, response: ApiResponse): void {
  const isHarmless = command === 'zrem' || (command === 'evalsha' && fault === 'is answered NOSCRIPT');
  const right = isHarmless ? [operation.good] : [operation.good, 503];
  t.ok(right.includes(response.status), `it is answered ${response.status}`);
  if (response.status !== 503) return;
  judgeUnavailable(t, 'it', response);
  if (operation.good === 401 || operation.isSignIn)
    t.match(response.json, { error: 'temporarily_unavailable' });
}

/** An operation that was refused is not executed later. */
async function judgeNothingLater(t: Test, { redis }: RelayStage, { fault }: Row, struckAt: number) {
  const before = await stored(redis);
  if (fault === 'arrives late') {
    t.ok(performance.now() - struckAt < delayMs, 'it has not arrived yet');
    await sleep(delayMs + 50 - (performance.now() - struckAt));
  }
  t.strictSame(await stored(redis), before, 'nothing is executed later');
}

/**
 * Within two seconds the store serves again, and everyone is still signed in, except where the operation ended a
 * session.
 */
async function goOn(t: Test, stage: RelayStage, row: Row, situation: Situation, response: ApiResponse) {
  const { gateway } = stage;
  const since = performance.now();
  const { operation } = row;
  if (operation.isSignIn === true || operation.ends === true) {
    await eventually('it is answered', async () => (await operation.run(stage, situation)).status !== 503);
  } else await judgeOneHead(t, stage, situation, response);
  judgeWithin(t, 'it continues', performance.now() - since, backLimitMs);

  const { bearer } = situation;
  if (operation.isSignIn === true) {
    const again = await operations['a sign-in']!.run(stage, situation);
    t.equal(await judgedStatus(gateway, cookieOf(again)), 200, 'a sign-in works');
  } else {
    const expected = operation.ends === true ? 401 : 200;
    if (operation.ends === true)
      for (const cookie of situation.cookies)
        t.equal(await judgedStatus(gateway, cookie), 401, 'its cookies do not');
    for (const { api } of [gateway, stage.elsewhere])
      await eventually(
        `a bearer token is answered ${expected}`,
        async () => (await api.send({ path: '/api/store/x', bearer })).status === expected,
        backLimitMs * leeway,
      );
  }
}

/** The status of a refresh by that cookie, from a store that serves again. */
function judgedStatus({ api }: GatewayProcess, cookie: string): Promise<number> {
  const judged = async () => {
    const { status } = await api.refresh(cookie);
    return status !== 503 && status;
  };
  return eventually('a cookie is judged', judged, backLimitMs * leeway);
}

/** All cookies that may be in use lead to the same successor, at most one generation later. */
async function judgeOneHead(t: Test, stage: RelayStage, { cookies }: Situation, response: ApiResponse) {
  const held = response.setCookies.length === 0 ? cookies : [...cookies, cookieOf(response)];
  const responses = await eventually('every cookie is answered', async () => {
    const all = await Promise.all(held.map((cookie) => stage.gateway.api.refresh(cookie)));
    return all.every(({ status }) => status !== 503) && all;
  });
  t.same(
    responses.map(({ status }) => status),
    held.map(() => 200),
    'no one is signed out',
  );
  const successors = new Set(responses.map(cookieOf));
  t.equal(successors.size, 1, 'one current cookie');
  const { generation } = partsOf([...successors][0]!);
  t.ok(generation <= 2, `generation ${generation}`);
  t.equal(await stage.redis.command('HGET', sessionKey(held[0]!), 'generation'), String(generation));
}

t.test('a clock learnt from a slow reply lets nothing be executed too late', { timeout }, async (t) => {
  if (!requireRedis(t)) return;
  const stage = await startOperationStage(t);
  const { redis, relay, gateway } = stage;
  for (const slow of [{ delayMs: 160 }, { delayReplyMs: 160 }]) {
    const { sent } = await operations['a refresh that rotates']!.prepare(stage);
    relay.arm({ fault: slow, commands: isOfOperation });
    t.equal((await gateway.api.refresh(sent)).status, 200);
    await relay.restore();
    // As late as half of that reply's delay would hide.
    await passGrace(redis, sent);
    relay.arm({ fault: { delayMs: commandTimeoutMs + 50 }, commands: isOfOperation });
    const response = await gateway.api.refresh(sent);
    if (response.status === 503) {
      const before = await stored(redis);
      await sleep(150);
      t.strictSame(await stored(redis), before, 'nothing is executed later');
    } else t.fail(`answered ${response.status}`);
    await relay.restore();
    await eventually('it is available again', async () => (await gateway.api.refresh(sent)).status === 200);
  }
});
