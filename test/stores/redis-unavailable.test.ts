import { setTimeout as sleep } from 'node:timers/promises';
import t, { type Test } from 'tap';
import type { ApiResponse } from '../support/clients/api-client.ts';
import { judgeWithin, timed } from '../support/clients/timed.ts';
import { eventually } from '../support/eventually.ts';
import { auditLines, cookieOf, logText, partsOf } from '../support/gateway/replicas.ts';
import { closeCodeOf, openWebSocket } from '../support/servers/web-sockets.ts';
import { stored } from '../support/stores/redis-operations.ts';
import { requireRedis } from '../support/stores/redis-server.ts';
import {
  type AwayStage,
  durable,
  livenessAgeMs,
  readiness,
  ready,
  reasonInLog,
  staleIfErrorMs,
  startAwayStage,
  statusOf,
  type Way,
  ways,
} from '../support/stores/redis-unavailable.ts';
import { tryToSignIn } from '../support/stores/relay-stage.ts';
import { judgeUnavailable } from '../support/stores/unavailable.ts';

const timeout = 600_000;
t.setTimeout(timeout);

/** The default of `stores.sessions_command_timeout`, plus ten percent. */
const responseLimitMs = 550;
const backLimitMs = 2_000;
/** The interval at which streams are checked, plus the time of one request. */
const sweepMs = 400;
const requestMs = 100;

interface Stage extends AwayStage {
  readonly way: Way;
  wentAtMs: number;
  before: unknown;
}

/** The promises of the contract, in the order in which Redis becomes unavailable and available again. */
const sentences: Readonly<Record<string, (t: Test, stage: Stage) => Promise<void>>> = {
  'sign-in, refresh and sign-out get 503 with Retry-After within the command timeout': async (t, stage) => {
    const { gateway, bearer, cookie } = stage;
    const calls = {
      'a sign-in': tryToSignIn(gateway),
      'a refresh': gateway.api.refresh(cookie),
      'a sign-out': gateway.api.send({ path: '/api/logout', bearer, cookie }),
    };
    const responses = Object.entries(calls).map(async ([name, call]) => {
      const { came, tookMs } = await timed(call);
      judgeUnavailable(t, name, came);
      judgeWithin(t, name, tookMs, responseLimitMs);
      if (name !== 'a sign-out') t.match(came.json, { error: 'temporarily_unavailable' });
    });
    await Promise.all(responses);
  },

  'API keys and bearer tokens pass': async (t, { gateway, bearer, key }) => {
    t.equal(await statusOf(gateway, { apiKey: key }), 200);
    t.equal(await statusOf(gateway, { bearer }), 200);
  },

  'a session that this process never saw alive is 503': async (t, { gateway, unseenBearer }) => {
    const response = gateway.api.send({ path: '/api/store/x', bearer: unseenBearer });
    const { came, tookMs } = await timed(response);
    judgeUnavailable(t, 'its bearer token', came);
    judgeWithin(t, 'it', tookMs, responseLimitMs);
  },

  '/readyz stays 200 and names the unavailable store': async (t, { gateway }) => {
    const reason = await reasonInLog(gateway);
    t.strictSame(await readiness(gateway), ready(false, reason), 'with the reason that the log gives');
  },

  'the log gives the reason, in our own words': async (t, { gateway }) => {
    const line = await eventually(
      'a line about the store',
      () => logText(gateway.folder).match(/.*"msg":"store unavailable".*/)?.[0],
    );
    t.match(JSON.parse(line), {
      store: 'sessions',
      reason: /^(the connection is closed|timed out)$/,
    });
  },

  'requests and streams go on until stale_if_error after the session was seen alive, and no longer': async (
    t,
    stage,
  ) => {
    const { gateway, bearer, key } = stage;
    const refused = await eventually('the bearer token is refused', async () => {
      const response = await gateway.api.send({ path: '/api/store/x', bearer });
      return response.status !== 200 && response;
    });
    const refusedAtMs = performance.now();
    judgeUnavailable(t, 'a bearer token', refused);
    t.ok(refusedAtMs - stage.seenAtMs >= staleIfErrorMs, 'not earlier');
    judgeWithin(t, 'refused', refusedAtMs - stage.wentAtMs, staleIfErrorMs + requestMs);
    t.equal(await statusOf(gateway, { apiKey: key }), 200, 'an API key passes');
  },

  'nothing was executed late, and no session is lost': async (t, stage) => {
    await stage.way.comeBack(stage);
    const { tookMs } = await timed(
      eventually('it is ready', async () => {
        const { body } = await readiness(stage.gateway);
        return JSON.stringify(body) === JSON.stringify(ready(true).body);
      }),
    );
    judgeWithin(t, 'it is available again', tookMs, backLimitMs);
    await sleep(300);
    t.strictSame(await stored(stage.redis), stage.before);
  },

  'everyone continues, without a restart': async (t, { gateway, bearer, unseenBearer, cookie }) => {
    t.equal(await statusOf(gateway, { bearer }), 200);
    t.equal(await statusOf(gateway, { bearer: unseenBearer }), 200);
    t.equal((await tryToSignIn(gateway)).status, 200);
    const refreshed = await gateway.api.refresh(cookie);
    t.equal(partsOf(cookieOf(refreshed)).generation, 2, 'no generation was lost');
    t.equal((await gateway.api.send({ path: '/api/logout', bearer })).status, 200);
    t.equal((await gateway.api.refresh(cookie)).status, 401);
  },
};

for (const [name, way] of Object.entries(ways))
  t.test(`Redis ${name}`, { timeout }, async (t) => {
    if (!requireRedis(t)) return;
    const prepared = await startAwayStage(t, { redis: durable });
    const { gateway, bearer, key, redis } = prepared;
    const open = (header: Record<string, string>) =>
      openWebSocket(gateway.port, '/api/live', { headers: header });
    const ofSession = await open({ Authorization: `Bearer ${bearer}` });
    const ofKey = await open({ 'X-API-Key': key });
    const before = await stored(redis);
    const stage: Stage = { ...prepared, way, before, wentAtMs: performance.now() };
    const streamEnded = closeCodeOf(ofSession).then(() => performance.now());
    await way.go(stage);
    stage.wentAtMs = performance.now();
    for (const [sentence, judge] of Object.entries(sentences)) {
      await t.test(sentence, { timeout }, (t) => judge(t, stage));
      if (!sentence.includes('streams')) continue;
      const endedAtMs = await streamEnded;
      t.ok(endedAtMs - stage.seenAtMs >= staleIfErrorMs, 'a stream of the session ends, not earlier');
      judgeWithin(t, 'it ends', endedAtMs - stage.wentAtMs, staleIfErrorMs + sweepMs + requestMs);
      t.equal(ofKey.readyState, ofKey.OPEN, 'a stream of an API key continues');
    }
    t.strictSame(auditLines(gateway.folder, 'refresh_token_reused'), [], 'no false alarm');
    ofKey.terminate();
  });

for (const [name, way] of Object.entries(ways))
  t.test(`a gateway started with Redis ${name} recovers by itself`, { timeout }, async (t) => {
    if (!requireRedis(t)) return;
    const stage = await startAwayStage(t, { redis: durable });
    const { bearer, cookie, key } = stage;
    await way.go(stage);
    const started = await stage.startAnother(t);
    t.strictSame(await readiness(started), ready(false, await reasonInLog(started)));
    t.equal(await statusOf(started, { apiKey: key }), 200);
    t.equal(await statusOf(started, { bearer }), 503);
    judgeUnavailable(t, 'a sign-in', await tryToSignIn(started));
    judgeUnavailable(t, 'a refresh', await started.api.refresh(cookie));
    await way.comeBack(stage);
    const { tookMs } = await timed(
      eventually('a refresh', async () => (await started.api.refresh(cookie)).status === 200),
    );
    judgeWithin(t, 'it is available again', tookMs, backLimitMs);
    t.equal(await statusOf(started, { bearer }), 200);
    t.equal((await tryToSignIn(started)).status, 200);
    t.strictSame(await readiness(started), ready(true));
  });

const losses: Readonly<Record<string, (stage: AwayStage) => Promise<unknown>>> = {
  'Redis restarted empty': async ({ redis }) => {
    await redis.kill();
    await redis.restart();
  },
  FLUSHALL: ({ redis }) => redis.command('FLUSHALL'),
};

for (const [name, lose] of Object.entries(losses))
  t.test(`${name}: everyone is signed out, cleanly`, { timeout }, async (t) => {
    if (!requireRedis(t)) return;
    const stage = await startAwayStage(t);
    const { gateway, bearer, cookie, key } = stage;
    const stream = await openWebSocket(gateway.port, '/api/live', {
      headers: { Authorization: `Bearer ${bearer}` },
    });
    const streamEnded = closeCodeOf(stream);
    t.equal(await statusOf(gateway, { bearer }), 200);
    await lose(stage);
    const since = performance.now();

    const seen = new Set<number>();
    const refused = async (ask: () => Promise<ApiResponse>, limitMs: number) => {
      const response = await eventually('a refusal', async () => {
        const came = await ask();
        seen.add(came.status);
        return came.status === 401 && came;
      });
      judgeWithin(t, response.json.code, performance.now() - since, limitMs);
      t.strictSame(response.setCookies, []);
    };
    const bearerLimitMs = name === 'FLUSHALL' ? livenessAgeMs + requestMs : backLimitMs;
    await refused(() => gateway.api.send({ path: '/api/store/x', bearer }), bearerLimitMs);
    await refused(() => gateway.api.refresh(cookie), backLimitMs);
    t.ok(
      [...seen].every((status) => [200, 401, 503].includes(status)),
      [...seen].join(' '),
    );
    await streamEnded;
    judgeWithin(t, 'its stream has ended', performance.now() - since, backLimitMs);
    t.equal(await statusOf(gateway, { apiKey: key }), 200);
    t.equal((await tryToSignIn(gateway)).status, 200, 'signing in again works');
    t.strictSame(auditLines(gateway.folder, 'refresh_token_reused'), [], 'no false alarm');
  });

t.test('maxmemory reached: no one new is signed in, and no one is signed out', { timeout }, async (t) => {
  if (!requireRedis(t)) return;
  const stage = await startAwayStage(t);
  const { gateway, redis, bearer, unseenBearer, cookie, key } = stage;
  const leaving = await gateway.api.signIn('ada', 'correct horse battery staple');
  await redis.command('CONFIG', 'SET', 'maxmemory', '1');
  const before = await stored(redis);
  judgeUnavailable(t, 'a sign-in', await tryToSignIn(gateway));
  judgeUnavailable(t, 'a refresh', await gateway.api.refresh(cookie));
  t.strictSame(await stored(redis), before, 'which changed nothing');
  t.equal(await statusOf(gateway, { bearer }), 200);
  t.equal(await statusOf(gateway, { bearer: unseenBearer }), 200);
  t.equal(await statusOf(gateway, { apiKey: key }), 200);
  t.strictSame(await readiness(gateway), ready(true));
  const { status, setCookies } = await gateway.api.send({ path: '/api/logout', cookie: leaving.cookie });
  t.equal(status, 200, 'signing out works');
  t.match(setCookies[0], /Max-Age=0/);
  t.equal(await statusOf(gateway, { bearer: leaving.accessToken }), 401);
  await redis.command('CONFIG', 'SET', 'maxmemory', '0');
  t.equal((await gateway.api.refresh(cookie)).status, 200);
  t.equal((await tryToSignIn(gateway)).status, 200);
  t.ok(gateway.pid, 'the process is alive');
});
