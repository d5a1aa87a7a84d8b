import { setTimeout as sleep } from 'node:timers/promises';
import type { Test } from 'tap';
import { eventually } from '../eventually.ts';
import { administrator } from '../gateway/gateway.ts';
import type { GatewayProcess } from '../gateway/gateway-process.ts';
import { isLong } from '../gateway/gateway-under-load.ts';
import { auditLines, leeway, logText } from '../gateway/replicas.ts';
import { type SessionLoad, startSessionLoad } from './session-load.ts';

const { username, password } = administrator;
/** How long there is no disturbance before and after, ms. */
const calmMs = isLong ? 3_000 : 400;
/** How long a session is cached that the store has lost. */
const rememberedMs = isLong ? 5_000 : 500;
const commandTimeoutMs = 500;

/** How long a session that was seen alive counts while the store is unavailable, ms. */
export const staleIfErrorMs = 20_000;

/** The configuration of the gateways whose store fails. */
export const outageConfig = {
  sessions: { reuse_grace: '100ms', stale_if_error: `${staleIfErrorMs}ms` },
  stores: { sessions_liveness_age: `${rememberedMs}ms`, sessions_command_timeout: `${commandTimeoutMs}ms` },
};

type Gateways = readonly [GatewayProcess, GatewayProcess];

/**
 * Disturbs the store under load until it is available again, and judges: all responses are 200 or 503, everything works
 * within two seconds of recovery, and no one is signed out. `outlastsStale`: the outage is so long that requests with a
 * token are refused, too.
 */
export async function judgeOutage(
  t: Test,
  gateways: Gateways,
  strike: () => Promise<unknown>,
  { outlastsStale = false }: { readonly outlastsStale?: boolean } = {},
): Promise<void> {
  const load = await startSessionLoad(gateways);
  await judgeCalm(t, load);
  await strike();
  const recoveredMs = await load.recovered();
  report(t, load, recoveredMs);
  assertOnly(t, load, outlastsStale ? [200, 503, brokenOff] : [200, 503]);
  const counts = load.counts();
  t.equal('bearer 503' in counts, outlastsStale, 'requests with a token');
  t.ok('login 503' in counts, 'it was unavailable');
  t.ok(recoveredMs < 2_000 * leeway, `available again after ${recoveredMs} ms`);
  // The first success is not the last failure: a Cluster's other slots may move a little later.
  await sleep(Math.max(0, 2_000 - recoveredMs));
  await judgeCalm(t, load);
  await load.stop();
  for (const gateway of gateways) {
    t.same([...new Set(await load.statusesAt(gateway))], [200], 'no one is signed out');
    t.ok(gateway.pid !== null);
  }
  judgeLogs(t, gateways);
}

/**
 * Disturbs the store under load so that it loses the sessions: their holders are signed out, and may sign in at once.
 */
export async function judgeLoss(t: Test, gateways: Gateways, strike: () => Promise<unknown>): Promise<void> {
  const load = await startSessionLoad(gateways);
  await judgeCalm(t, load);
  await strike();
  const sinceMs = performance.now();
  await sleep(rememberedMs + 1_000);
  report(t, load, performance.now() - sinceMs);
  assertOnly(t, load, [200, 401, 503, brokenOff]);
  t.notOk('login 401' in load.counts());
  load.reset();
  await sleepUntilEachResponded(load);
  await load.stop();
  t.same(Object.keys(load.counts()), ['bearer 401', 'login 200', 'refresh 401']);
  for (const gateway of gateways) {
    t.same([...new Set(await load.statusesAt(gateway))], [401]);
    t.equal((await gateway.api.signIn(username, password)).response.status, 200);
    t.ok(gateway.pid !== null);
  }
  judgeLogs(t, gateways);
}

async function judgeCalm(t: Test, load: SessionLoad): Promise<void> {
  load.reset();
  await sleepUntilEachResponded(load);
  t.same(Object.keys(load.counts()), ['bearer 200', 'login 200', 'refresh 200'], 'all is well');
  load.reset();
}

/** Waits for a while, and until there was a response to requests of every kind: a login takes long on a busy machine. */
async function sleepUntilEachResponded(load: SessionLoad): Promise<void> {
  await sleep(calmMs);
  await eventually('a response of every kind', () => Object.keys(load.counts()).length >= 3);
}

/** The outcome of a request in progress when its credential ends. */
const brokenOff = 'ECONNRESET';

/** That no request had another outcome. */
function assertOnly(t: Test, load: SessionLoad, outcomes: readonly (number | string)[]): void {
  const allowed = outcomes.map(String);
  const others = Object.keys(load.counts()).filter((response) => !allowed.includes(response.split(' ')[1]!));
  t.same(others, [], 'there was no other status');
}

function report(t: Test, load: SessionLoad, recoveredMs: number): void {
  const slowest = { 200: load.slowestMs(200), 503: load.slowestMs(503) };
  t.comment(load.counts(), `available again after ${Math.round(recoveredMs)} ms; slowest in ms:`, slowest);
  t.ok(slowest[503] < commandTimeoutMs * 1.1 * leeway, `a refusal after ${slowest[503]} ms`);
}

/** What holds whatever happens to a store. */
function judgeLogs(t: Test, [{ folder }]: Gateways): void {
  t.same(auditLines(folder, 'refresh_token_reused'), [], 'no false alarm');
  t.notMatch(logText(folder), /"level":"error"/);
}
