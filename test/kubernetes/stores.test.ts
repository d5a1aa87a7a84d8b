import { rmSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import t, { type Test } from 'tap';
import type { ApiClient } from '../support/clients/api-client.ts';
import { eventually } from '../support/eventually.ts';
import { apply, kubectl, requireNode } from './cluster/commands.ts';
import { createNamespace, podsOf } from './cluster/namespace.ts';
import { ordersService } from './cluster/orders.ts';
import { gatewayValues, install, openUp, password, type Release } from './cluster/release.ts';
import { type Replica, replicasOf } from './cluster/replica.ts';
import { type Stores, startStores } from './cluster/stores.ts';

/** `sessions.stale_if_error`, and what a busy machine may add. */
const staleSeconds = 10;
const toleranceSeconds = 3;

/** What one replica did, asked and answered so many seconds after the store went. */
interface Seen {
  readonly asked: number;
  readonly answered: number;
  readonly seenKey: number;
  readonly bearer: number;
  /** Null at the replica that made that key. */
  readonly unseenKey: number | null;
  readonly login: number;
  readonly ready: { status: number; records: boolean; sessions: boolean };
}

interface Credentials {
  readonly accessToken: string;
  readonly key: string;
  readonly unseenKey: string;
}

t.test('three replicas whose stores go and come back, as docs/failures.md has it', async (t) => {
  if (!requireNode(t)) return;
  await createNamespace(t, 'stores');
  const stores = await startStores(t, 'stores', 'acme');
  await apply('stores', ordersService());
  await kubectl('rollout', 'status', 'deploy/orders', '--namespace=stores');
  const config = { sessions: { stale_if_error: `${staleSeconds}s` } };
  const release = await install('stores', gatewayValues(stores, {}, config));
  const { key } = await openUp(release);
  const replicas = await replicasOf(release);
  const restarts = await restartsOf(t, release);

  for (const [store, judge] of [
    ['redis', judgeWithoutSessions],
    ['postgres', judgeWithoutRecords],
  ] as const)
    for (const [how, go, back] of waysToGo(stores[store]))
      await t.test(`${store} ${how}`, async (t) => {
        const credentials = await seeEverywhere(replicas, key);
        await go();
        const seen = await watch(replicas, credentials);
        await back();
        for (const one of seen) judge(t, one);
        const since = performance.now();
        await eventually('all is well', async () => isWell(await watchOnce(replicas, credentials)));
        t.comment(`well after ${Math.round(performance.now() - since)} ms`);
      });
  await t.test('redis comes back empty', (t) => comeBackEmpty(t, stores, replicas, key));
  await t.test('postgres comes back without its tables', async (t) => {
    const credentials = await seeEverywhere(replicas, key);
    await stores.postgres.query('ALTER SCHEMA postern RENAME TO lost');
    for (const one of await watch(replicas, credentials)) judgeWithoutRecords(t, one);
    await stores.postgres.query('ALTER SCHEMA lost RENAME TO postern');
    await eventually('all is well', async () => isWell(await watchOnce(replicas, credentials)));
  });
  t.strictSame(await restartsOf(t, release), restarts, 'no pod was restarted');

  await t.test('and begins from nothing if pods start before they are restored', (t) =>
    beginFromNothing(t, stores, release, key),
  );
});

/** How often each pod was restarted, with the last words of those that were. */
async function restartsOf(t: Test, { namespace, selector }: Release): Promise<Record<string, number>> {
  const pods = await podsOf(namespace, selector);
  const restarts: Record<string, number> = {};
  for (const { metadata, status } of pods) {
    const { restartCount, lastState } = status.containerStatuses[0];
    restarts[metadata.name] = restartCount;
    if (restartCount === 0) continue;
    const log = await kubectl('logs', '--previous', '--tail=3', metadata.name, '--namespace', namespace);
    t.comment(metadata.name, lastState.terminated, log);
  }
  return restarts;
}

function waysToGo(server: Stores['redis'] | Stores['postgres']) {
  return [
    ['stopped', () => server.stop(), () => server.restart()],
    ['killed', () => server.kill(), () => server.restart()],
    ['paused', async () => server.pause(), async () => server.resume()],
  ] as const;
}

/** A key and a session that every replica has seen, and a key that only the first one has. */
async function seeEverywhere(replicas: readonly Replica[], key: string): Promise<Credentials> {
  const [first] = replicas as [Replica];
  const { accessToken } = await first.api.signIn('admin', password);
  const minted = await first.api.mintKey(accessToken, { label: 'unseen', scopes: ['orders:read'] });
  const credentials = { accessToken, key, unseenKey: minted.key };
  for (const { api } of replicas)
    if ((await statusOf(api, { apiKey: key })) + (await statusOf(api, { bearer: accessToken })) !== 400)
      throw new Error('a replica refuses what it should know');
  return credentials;
}

/** Every second, until well after a credential that was seen is no longer trusted. */
async function watch(replicas: readonly Replica[], credentials: Credentials): Promise<Seen[]> {
  const since = performance.now();
  const seconds = () => (performance.now() - since) / 1000;
  const all: Seen[] = [];
  while (seconds() < staleSeconds + toleranceSeconds + 3) {
    all.push(...(await watchOnce(replicas, credentials, seconds)));
    await sleep(1000);
  }
  return all;
}

function watchOnce(replicas: readonly Replica[], of: Credentials, seconds = () => 0): Promise<Seen[]> {
  return Promise.all(
    replicas.map(async ({ api, readiness }, index) => {
      const asked = seconds();
      const [seenKey, bearer, unseenKey, login, ready] = await Promise.all([
        statusOf(api, { apiKey: of.key }),
        statusOf(api, { bearer: of.accessToken }),
        index === 0 ? null : statusOf(api, { apiKey: of.unseenKey }),
        statusOfLogin(api),
        readiness(),
      ]);
      return { asked, answered: seconds(), seenKey, bearer, unseenKey, login, ready };
    }),
  );
}

async function statusOf(api: ApiClient, credential: object): Promise<number> {
  return (await api.send({ path: '/api/orders', ...credential })).status;
}

async function statusOfLogin(api: ApiClient): Promise<number> {
  const form = { username: 'admin', password };
  const { status, headers } = await api.send({ method: 'POST', path: '/api/login/access-token', form });
  return status === 503 && headers['retry-after'] === undefined ? 0 : status;
}

function isWell(seen: readonly Seen[]): boolean {
  return seen.every(
    ({ seenKey, bearer, unseenKey, login, ready }) =>
      [seenKey, bearer, unseenKey ?? 200, login, ready.status].every((status) => status === 200) &&
      ready.records &&
      ready.sessions,
  );
}

/** 200 while it is trusted, then 503; in between, either. */
function judgeTrusted(t: Test, what: string, { asked, answered }: Seen, status: number): void {
  const isBefore = answered < staleSeconds - toleranceSeconds;
  const isAfter = asked > staleSeconds + toleranceSeconds;
  const expected = isBefore ? [200] : isAfter ? [503] : [200, 503];
  t.ok(expected.includes(status), `${what} after ${asked.toFixed(1)} s: ${status}`);
}

function judgeWithoutSessions(t: Test, seen: Seen): void {
  const { asked, seenKey, bearer, login, ready } = seen;
  t.equal(seenKey, 200, 'keys pass');
  t.equal(login, 503, 'no sign-in');
  judgeTrusted(t, 'a bearer', seen, bearer);
  t.equal(ready.status, 200, 'ready, for the keys');
  if (asked > toleranceSeconds) t.match(ready, { records: true, sessions: false });
}

function judgeWithoutRecords(t: Test, seen: Seen): void {
  const { asked, seenKey, bearer, unseenKey, login, ready } = seen;
  judgeTrusted(t, 'a key that was seen', seen, seenKey);
  judgeTrusted(t, 'a bearer that was seen', seen, bearer);
  judgeTrusted(t, '/readyz', seen, ready.status);
  if (unseenKey !== null) t.equal(unseenKey, 503, 'no key that was not seen');
  t.equal(login, 503, 'no sign-in');
  if (asked > toleranceSeconds) t.equal(ready.records, false, 'and says so');
}

async function comeBackEmpty(t: Test, { redis }: Stores, replicas: readonly Replica[], key: string) {
  const { accessToken } = await seeEverywhere(replicas, key);
  await redis.kill();
  rmSync(join(redis.folder, 'appendonlydir'), { recursive: true });
  await redis.restart();
  for (const { api } of replicas) {
    const signedOut = async () => (await statusOf(api, { bearer: accessToken })) === 401;
    await eventually('everyone is signed out', signedOut);
    t.equal(await statusOf(api, { apiKey: key }), 200, 'keys pass');
    await eventually('sign-in works', async () => (await statusOfLogin(api)) === 200);
  }
  const { accessToken: next } = await replicas[0]!.api.signIn('admin', password);
  for (const { api } of replicas) t.equal(await statusOf(api, { bearer: next }), 200, 'everywhere');
}

async function beginFromNothing(t: Test, { postgres }: Stores, release: Release, key: string) {
  await postgres.query('ALTER SCHEMA postern RENAME TO lost');
  const to = ['--namespace', release.namespace];
  await kubectl('rollout', 'restart', release.workload, ...to);
  await kubectl('rollout', 'status', release.workload, ...to, '--timeout=180s');
  const replicas = await replicasOf(release);
  for (const { api } of replicas) t.equal(await statusOf(api, { apiKey: key }), 401, 'the key is gone');
  const { key: next } = await openUp(release);
  for (const { api } of replicas)
    t.equal(await statusOf(api, { apiKey: next }), 200, 'another passes everywhere');
}
