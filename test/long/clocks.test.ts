import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import t, { type Test } from 'tap';
import { temporaryFolder } from '../contract/sqlite-stores.ts';
import { compileClocks, type MovableClock } from '../model/machine/clock.ts';
import { eventually } from '../support/eventually.ts';
import { administrator, bootstrapToken } from '../support/gateway/gateway.ts';
import { type GatewayProcess, startGatewayProcess } from '../support/gateway/gateway-process.ts';
import { isLong } from '../support/gateway/gateway-under-load.ts';
import { scrape } from '../support/gateway/scrape.ts';
import { requirePostgres } from '../support/stores/postgres-programs.ts';
import { startPostgres } from '../support/stores/postgres-server.ts';
import { requireRedis, startRedis } from '../support/stores/redis-server.ts';

/** Real processes under clocks that are set while they serve. */

t.setTimeout(300_000);

const graceMs = 2_000;
const hourMs = 3_600_000;
const dayMs = 24 * hourMs;
const { username, password } = administrator;
const main = join(import.meta.dirname, '../../src/main.ts');

/** Longer than a grace. */
const grace = () => sleep(graceMs + 300);

/** A gateway under a clock of its own, with these stores. */
function startUnder(t: Test, clock: MovableClock, stores: object, folder?: string): Promise<GatewayProcess> {
  const env = Object.entries(clock.env).map(([name, value]) => `${name}=${value}`);
  // NODE_OPTIONS as in test/support/gateway/node-process.ts.
  const program = ['env', '-u', 'NODE_OPTIONS', ...env, process.execPath, main] as const;
  const config = { stores, sessions: { reuse_grace: `${graceMs}ms` } };
  return startGatewayProcess(t, { config, program, ...(folder === undefined ? {} : { folder }) });
}

async function activate({ api }: GatewayProcess): Promise<void> {
  await api.activate(username, password, bootstrapToken);
}

/** The status of a refresh, and the cookie it gives. */
async function refresh({ api }: GatewayProcess, cookie: string) {
  const { status, setCookies, json } = await api.refresh(cookie);
  return { status, cookie: setCookies[0]?.split(';', 1)[0] ?? '', accessToken: String(json?.access_token) };
}

const use = async ({ api }: GatewayProcess, bearer: string) =>
  (await api.send({ path: '/api/self/sessions/', bearer })).status;

/** A session that has rotated, and whose grace is over: its cookie, and the one before. */
async function rotated(t: Test, gateway: GatewayProcess): Promise<{ current: string; previous: string }> {
  const previous = (await gateway.api.signIn(username, password)).cookie;
  await grace();
  const { cookie } = await refresh(gateway, previous);
  t.not(cookie, previous);
  t.equal((await refresh(gateway, cookie)).status, 200);
  await grace();
  return { current: cookie, previous };
}

/** Two sessions of that kind: one that its user goes on with, and one whose cookie before another has as well. */
const usedAndStolen = (t: Test, gateway: GatewayProcess) =>
  Promise.all([rotated(t, gateway), rotated(t, gateway)]);

/** Refresh cookies at `gateway` are as if the clock had not been set back since. */
async function assertUnbroken(
  t: Test,
  gateway: GatewayProcess,
  [used, stolen]: Awaited<ReturnType<typeof usedAndStolen>>,
): Promise<void> {
  t.equal((await refresh(gateway, stolen.previous)).status, 401, 'its grace was over before');
  t.equal((await refresh(gateway, stolen.current)).status, 401, 'and reuse ends the session');
  const next = await refresh(gateway, used.current);
  t.not(next.cookie, used.current, 'the current cookie rotates');
  t.equal((await refresh(gateway, next.cookie)).cookie, next.cookie);
  t.equal((await refresh(gateway, used.current)).cookie, next.cookie, 'within the grace of the new one');
  await grace();
  t.not((await refresh(gateway, next.cookie)).cookie, next.cookie, 'and so on by the new time');
  t.equal((await refresh(gateway, next.cookie)).status, 200, 'a lost response');
}

const createClock = compileClocks(t, temporaryFolder(t));
if (createClock !== null) {
  t.test('the clock of a Redis is set back, with a gateway that saw it and one that did not', async (t) => {
    if (!requireRedis(t)) return;
    const clock = createClock('redis');
    const redis = await startRedis(t, { env: clock.env });
    const stores = { records: 'sqlite:records.db', sessions: redis.url };
    const beside = createClock('beside-redis');
    const gateway = await startUnder(t, beside, stores);
    await activate(gateway);
    const sessions = await usedAndStolen(t, gateway);
    const others = await usedAndStolen(t, gateway);
    clock.set(-hourMs);
    await assertUnbroken(t, gateway, sessions);
    await assertUnbroken(t, await startUnder(t, beside, stores, gateway.folder), others);
  });

  t.test('the clock of a gateway with SQLite is set back, and another is started', async (t) => {
    const clock = createClock('sqlite');
    const stores = { records: 'sqlite:records.db', sessions: 'sqlite:sessions.db' };
    const gateway = await startUnder(t, clock, stores);
    await activate(gateway);
    const sessions = await usedAndStolen(t, gateway);
    const others = await usedAndStolen(t, gateway);
    const { accessToken, cookie } = await gateway.api.signIn(username, password);
    t.equal(await use(gateway, accessToken), 200);
    clock.set(-hourMs);
    t.equal(await use(gateway, accessToken), 401, 'issued in the future, though verified before');
    const again = await refresh(gateway, cookie);
    t.equal(await use(gateway, again.accessToken), 200, 'a refresh heals');
    await assertUnbroken(t, gateway, sessions);
    await assertUnbroken(t, await startUnder(t, clock, stores, gateway.folder), others);
  });

  t.test('the clock of a gateway with SQLite is a month ahead for a while', async (t) => {
    const clock = createClock('month');
    const stores = { records: 'sqlite:records.db', sessions: 'sqlite:sessions.db' };
    const gateway = await startUnder(t, clock, stores);
    await activate(gateway);
    const { cookie } = await gateway.api.signIn(username, password);
    clock.set(30 * dayMs);
    t.equal((await refresh(gateway, cookie)).status, 401);
    clock.set(0);
    t.equal((await refresh(gateway, cookie)).status, 200);
  });

  t.test('gateways whose clocks differ accept each other’s tokens, and log the difference', async (t) => {
    if (!requireRedis(t) || !requirePostgres(t)) return;
    const [redis, postgres] = await Promise.all([startRedis(t), startPostgres(t)]);
    const stores = { records: postgres.url, sessions: redis.url };
    const clocks = [createClock('ahead'), createClock('behind')] as const;
    clocks[0].set(5_000);
    clocks[1].set(-5_000);
    const ahead = await startUnder(t, clocks[0], stores);
    const behind = await startUnder(t, clocks[1], stores);
    await activate(ahead);
    for (const at of [ahead, behind]) {
      const { accessToken } = await at.api.signIn(username, password);
      for (const other of [ahead, behind]) t.equal(await use(other, accessToken), 200);
    }
    const differs = "system clock differs from the store's clock";
    for (const [gateway, aheadMs] of [
      [ahead, 5_000],
      [behind, -5_000],
    ] as const)
      for (const store of ['records', 'sessions']) {
        const warnings = () => gateway.logLines().filter((one) => one.msg === differs && one.store === store);
        // At start: within less than the minute until they are compared again.
        await eventually('the warning', () => warnings().length > 0, 30_000);
        const [line, ...more] = warnings();
        t.strictSame(more, []);
        const { system_clock_ahead_ms: measuredMs, uncertainty_ms: uncertaintyMs } = line as Record<
          string,
          number
        >;
        t.ok(Math.abs(measuredMs! - aheadMs) <= uncertaintyMs! + 2, `${measuredMs} ± ${uncertaintyMs}`);
        const { value } = await scrape(gateway.managementPort);
        t.equal(Math.round(value('clock_skew_seconds', { store })), aheadMs / 1000);
      }
    if (!isLong) return;
    // Within a minute they are compared again.
    clocks[0].set(0);
    await sleep(61_000);
    const came = ahead.logLines().map(({ msg }) => msg);
    t.equal(came.filter((msg) => msg === "system clock agrees with the store's clock again").length, 2);
    t.equal(came.filter((msg) => msg === 'system clock jumped back: it was set').length, 1);
    t.equal((await scrape(ahead.managementPort)).value('clock_steps_total', { direction: 'back' }), 1);
  });
}
