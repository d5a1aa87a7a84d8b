import t, { type Test } from 'tap';
import type { DecisionMode } from '../../src/config/sections/forward-auth.ts';
import { type Decider, startDecider, type Told } from '../support/clients/decider.ts';
import { judgeWithin } from '../support/clients/timed.ts';
import { eventually } from '../support/eventually.ts';
import { requirePostgres } from '../support/stores/postgres-programs.ts';
import * as ofPostgres from '../support/stores/postgres-unavailable.ts';
import { requireRedis } from '../support/stores/redis-server.ts';
import * as ofRedis from '../support/stores/redis-unavailable.ts';

// What other proxies are told while a store is away: what requests would get in proxy mode, as far as the proxy can
// pass it on.

const timeout = 600_000;
t.setTimeout(timeout);

/** Envoy makes its own of every 5xx that it is told over HTTP. */
const unavailableStatus: Readonly<Record<DecisionMode, number>> = {
  nginx: 503,
  ingress_nginx: 503,
  haproxy: 503,
  traefik: 503,
  caddy: 503,
  envoy: 403,
  envoy_grpc: 503,
};

/** How long after a moment nothing more may be allowed: what streams and caches may take besides. */
const leewayMs = 1_100;

/** A header that carries a credential. */
type Credential = readonly [name: string, value: string];

async function judgeAllowed(t: Test, decider: Decider, what: string, credential: Credential): Promise<void> {
  for (const [mode, { status, subject }] of Object.entries(await decider.ask(...credential)))
    t.ok(status === 200 && subject !== '', `${what}, asked by ${mode}: ${status}`);
}

async function judgeUnavailable(
  t: Test,
  decider: Decider,
  what: string,
  credential: Credential,
): Promise<void> {
  for (const [mode, { status, code, subject }] of Object.entries(await decider.ask(...credential)))
    t.strictSame(
      [status, code, subject],
      [unavailableStatus[mode as DecisionMode], 'store_unavailable', ''],
      `${what}, asked by ${mode}`,
    );
}

/** Asks until no proxy is told to let it pass; gives when that was. */
function refusedAt(decider: Decider, credential: Credential): Promise<number> {
  return eventually('no proxy lets it pass', async () => {
    const all: Told[] = Object.values(await decider.ask(...credential));
    return all.every(({ status }) => status !== 200) && performance.now();
  });
}

async function allowedAgain(decider: Decider, credential: Credential): Promise<void> {
  await eventually('every proxy lets it pass', async () =>
    Object.values(await decider.ask(...credential)).every(({ status }) => status === 200),
  );
}

for (const [name, way] of Object.entries(ofRedis.ways))
  t.test(`Redis ${name}`, { timeout }, async (t) => {
    if (!requireRedis(t)) return;
    const stage = await ofRedis.startAwayStage(t, { redis: ofRedis.durable });
    const decider = await startDecider(t, (more) => stage.startAnother(t, more));
    const session: Credential = ['Authorization', `Bearer ${stage.bearer}`];
    const unseen: Credential = ['Authorization', `Bearer ${stage.unseenBearer}`];
    const key: Credential = ['X-API-Key', stage.key];
    const seenAtMs = performance.now();
    await judgeAllowed(t, decider, 'a session', session);
    await way.go(stage);
    const wentAtMs = performance.now();
    await judgeAllowed(t, decider, 'a session that was seen alive', session);
    await judgeAllowed(t, decider, 'an API key', key);
    await judgeUnavailable(t, decider, 'a session that was never seen', unseen);

    const endedAtMs = await refusedAt(decider, session);
    t.ok(endedAtMs - seenAtMs >= ofRedis.staleIfErrorMs, 'the session passes for as long as it should');
    judgeWithin(t, 'it is refused', endedAtMs - wentAtMs, ofRedis.staleIfErrorMs + leewayMs);
    await judgeUnavailable(t, decider, 'the session', session);
    await judgeAllowed(t, decider, 'an API key still', key);

    await way.comeBack(stage);
    for (const credential of [session, unseen]) await allowedAgain(decider, credential);
  });

const { killed, 'in a black hole': inBlackHole } = ofPostgres.recordsWays;
for (const [name, way] of Object.entries({ killed, 'in a black hole': inBlackHole }))
  t.test(`PostgreSQL ${name}`, { timeout }, async (t) => {
    if (!requirePostgres(t)) return;
    const stage = await ofPostgres.startRecordsStage(t);
    const decider = await startDecider(t, (more) => stage.startAnother(t, more));
    const key: Credential = ['X-API-Key', stage.key];
    await ofPostgres.letRemember({ ...stage, gateway: decider.gateway });
    const unseen: Credential = ['X-API-Key', await ofPostgres.mintElsewhere(stage)];
    await judgeAllowed(t, decider, 'an API key', key);
    await way!.go(stage);
    const wentAtMs = performance.now();
    await judgeAllowed(t, decider, 'a key that was in use', key);
    await judgeUnavailable(t, decider, 'a key that was never seen', unseen);

    const endedAtMs = await refusedAt(decider, key);
    judgeWithin(t, 'it is refused', endedAtMs - wentAtMs, ofPostgres.staleIfErrorMs + leewayMs);
    await judgeUnavailable(t, decider, 'the key', key);

    await way!.comeBack(stage);
    for (const credential of [key, unseen]) await allowedAgain(decider, credential);
  });
