import { setTimeout as sleep } from 'node:timers/promises';
import type { Test } from 'tap';
import { administrator } from './gateway.ts';
import type { GatewayProcess } from './gateway-process.ts';
import { isLong } from './gateway-under-load.ts';
import { auditLines, leeway, logText } from './replicas.ts';
import { type SessionLoad, startSessionLoad } from './session-load.ts';

const { username, password } = administrator;
/** How long all goes well before and after, ms. */
const calmMs = isLong ? 3_000 : 400;
/** As long as a session is remembered that the store doesn't have any more. */
const rememberedMs = isLong ? 5_000 : 500;
const commandTimeoutMs = 500;

/** For how long a session that was seen alive counts while the store is away, ms. */
export const staleIfErrorMs = 20_000;

/** What the gateways are configured with whose store fails. */
export const outageConfig = {
  sessions: { reuse_grace: '100ms', stale_if_error: `${staleIfErrorMs}ms` },
  stores: { sessions_liveness_age: `${rememberedMs}ms`, sessions_command_timeout: `${commandTimeoutMs}ms` },
};

type Gateways = readonly [GatewayProcess, GatewayProcess];

/**
 * Strikes under load until the store is back, and judges: nothing but 200 and 503 is answered, all is well within two
 * seconds of the store being back, and nobody is signed out. `outlastsStale`: it is away for so long that requests with
 * a token are refused, too.
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
  t.ok('login 503' in counts, 'it was away');
  t.ok(recoveredMs < 2_000 * leeway, `back after ${recoveredMs} ms`);
  // The first that passes is not the last: a Cluster's other slots may move a little later.
  await sleep(Math.max(0, 2_000 - recoveredMs));
  await judgeCalm(t, load);
  await load.stop();
  for (const gateway of gateways) {
    t.same([...new Set(await load.statusesAt(gateway))], [200], 'nobody is signed out');
    t.ok(gateway.pid !== null);
  }
  judgeLogs(t, gateways);
}

/** Strikes under load where the sessions are lost: whoever had one is told so, and may sign in at once. */
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
  await sleep(calmMs);
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
  await sleep(calmMs);
  t.same(Object.keys(load.counts()), ['bearer 200', 'login 200', 'refresh 200'], 'all is well');
  load.reset();
}

/** What becomes of a request that is under way when its credential ends. */
const brokenOff = 'ECONNRESET';

/** That nothing else came of any request. */
function assertOnly(t: Test, load: SessionLoad, outcomes: readonly (number | string)[]): void {
  const allowed = outcomes.map(String);
  const others = Object.keys(load.counts()).filter((response) => !allowed.includes(response.split(' ')[1]!));
  t.same(others, [], 'nothing else was answered');
}

function report(t: Test, load: SessionLoad, recoveredMs: number): void {
  const slowest = { 200: load.slowestMs(200), 503: load.slowestMs(503) };
  t.comment(load.counts(), `back after ${Math.round(recoveredMs)} ms; slowest in ms:`, slowest);
  t.ok(slowest[503] < commandTimeoutMs * 1.1 * leeway, `a refusal after ${slowest[503]} ms`);
}

/** What holds whatever happens to a store. */
function judgeLogs(t: Test, [{ folder }]: Gateways): void {
  t.same(auditLines(folder, 'refresh_token_reused'), [], 'no false alarm');
  t.notMatch(logText(folder), /"level":"error"/);
}
