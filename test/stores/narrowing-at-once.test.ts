import { setTimeout as sleep } from 'node:timers/promises';
import t, { type Test } from 'tap';
import { type InUse, type KeyInUse, type KeyLoad, startKeyLoad } from '../support/administration/key-load.ts';
import { userPassword, usersPath } from '../support/administration/user-administration.ts';
import { administrator, bootstrapToken } from '../support/gateway/gateway.ts';
import type { GatewayProcess } from '../support/gateway/gateway-process.ts';
import { isLong } from '../support/gateway/gateway-under-load.ts';
import { leeway, startReplica } from '../support/gateway/replicas.ts';
import { requirePostgres } from '../support/stores/postgres-programs.ts';
import { type OpenStream, openStream, startStreaming } from '../support/stores/postgres-replicas.ts';
import { startPostgres } from '../support/stores/postgres-server.ts';
import { requireRedis, startRedis } from '../support/stores/redis-server.ts';

const perSecond = isLong ? 500 : 50;
const rounds = isLong ? 10 : 1;
/** How long what was narrowed is still sent, ms. */
const afterMs = isLong ? 1_500 : 900;
const timeout = isLong ? 900_000 : 600_000;
t.setTimeout(timeout);

const setsPath = '/api/admin/scope-sets/';

interface Stage {
  readonly gateways: readonly [GatewayProcess, GatewayProcess];
  readonly load: KeyLoad;
  readonly apiKey: string;
}

/** A user whose token and key are in use, and streaming, at both gateways. */
interface Account {
  readonly id: string;
  readonly setId: string;
  readonly token: Used;
  readonly key: Used;
}

interface Used {
  readonly inUse: KeyInUse;
  readonly streams: readonly OpenStream[];
}

interface Narrowing {
  readonly method: string;
  readonly path: (account: Account) => string;
  readonly json?: object;
  /** Whether users hold their scopes by themselves, not by a scope set. */
  readonly isOwn?: boolean;
  /** Whether it touches keys, too. */
  readonly touchesKeys: boolean;
}

const patch = { method: 'PATCH', path: ({ id }: Account) => usersPath + id };
const narrowed = ['store:write', 'apikeys:write'];

/** Each takes `store:read` away. */
const narrowings: Readonly<Record<string, Narrowing>> = {
  'the scopes of a user are narrowed': {
    ...patch,
    json: { scopes: narrowed },
    isOwn: true,
    touchesKeys: true,
  },
  'a scope set is taken from a user': {
    ...patch,
    json: { scopes: narrowed, scope_sets: [] },
    touchesKeys: true,
  },
  'a scope set is narrowed': {
    method: 'PATCH',
    path: ({ setId }) => setsPath + setId,
    json: { scopes: narrowed },
    touchesKeys: true,
  },
  'a user is disabled': { ...patch, json: { disabled: true }, touchesKeys: true },
  'a user is removed': { ...patch, method: 'DELETE', touchesKeys: true },
  'a password is set': { ...patch, json: { password: `${userPassword}, another` }, touchesKeys: false },
  "a user's sessions are ended": {
    method: 'DELETE',
    path: ({ id }) => `/api/admin/sessions/?user=${id}`,
    touchesKeys: false,
  },
};

async function change({ gateways, apiKey }: Stage, method: string, path: string, json?: object) {
  const response = await gateways[0].api.send({ method, path, apiKey, ...(json !== undefined && { json }) });
  if (response.status >= 300) throw new Error(`${method} ${path}: ${response.status} ${response.text}`);
  return response.json;
}

async function use({ gateways, load }: Stage, credential: InUse): Promise<Used> {
  const line =
    'apiKey' in credential ? `X-API-Key: ${credential.apiKey}` : `Authorization: Bearer ${credential.bearer}`;
  const streams = await Promise.all(gateways.map((gateway) => openStream(gateway, line)));
  return { inUse: await load.add(credential), streams };
}

async function openAccount(stage: Stage, name: string, isOwn: boolean): Promise<Account> {
  const scopes = ['store:read', ...narrowed];
  const { id: setId } = await change(stage, 'POST', setsPath, { name, scopes });
  const held = isOwn ? { scopes } : { scope_sets: [setId] };
  const user = { username: name, password: userPassword, ...held };
  const { id } = await change(stage, 'POST', usersPath, user);
  const { api } = stage.gateways[1];
  const { accessToken: bearer } = await api.signIn(name, userPassword);
  const { key: apiKey } = await api.mintKey(bearer, { label: 'ci', scopes: ['store:read'] });
  return { id, setId, token: await use(stage, { bearer }), key: await use(stage, { apiKey }) };
}

/** The longest times after the response of a narrowing, ms. */
interface Lateness {
  /** When the last request was sent that was still let in, where it was narrowed and at the other gateway. */
  here: number;
  there: number;
  /** When the last stream ended. */
  stream: number;
}

/** Narrows an account once, and notes how long it was still let in. */
async function playRound(
  t: Test,
  stage: Stage,
  { name, narrowing }: { readonly name: string; readonly narrowing: Narrowing },
  latest: Lateness,
): Promise<void> {
  const account = await openAccount(stage, name, narrowing.isOwn ?? false);
  const { token, key } = account;
  const touched = narrowing.touchesKeys ? [token, key] : [token];
  // At any phase of the gateways' intervals.
  await sleep(Math.random() * 400);
  await change(stage, narrowing.method, narrowing.path(account), narrowing.json);
  const narrowedMs = performance.now();
  await sleep(afterMs);
  for (const { inUse, streams } of touched) {
    const [here, there] = inUse.lastSentToMs as [number, number];
    latest.here = Math.max(latest.here, here - narrowedMs);
    latest.there = Math.max(latest.there, there - narrowedMs);
    t.ok(inUse.failed > 0, `${name}: requests were refused`);
    const ended = Promise.all(streams.map(({ endedAtMs }) => endedAtMs));
    latest.stream = Math.max(latest.stream, Math.max(...(await ended)) - narrowedMs);
  }
  if (!narrowing.touchesKeys) {
    t.equal(key.inUse.failed, 0, `${name}: the key goes on`);
    t.ok(
      key.streams.every(({ isOpen }) => isOpen),
      `${name}: and its streams`,
    );
  }
  for (const { inUse, streams } of [token, key]) {
    stage.load.remove(inUse);
    for (const stream of streams) stream.close();
  }
}

async function startStage(
  t: Test,
  stores: { readonly records: string; readonly sessions: string },
): Promise<Stage> {
  const { sessions, ...records } = stores;
  const config = { ...(await startStreaming(t)), endpoints: { users: 'own' }, stores: records };
  const one = await startReplica(t, sessions, config);
  const { username, password } = administrator;
  await one.api.activate(username, password, bootstrapToken);
  const other = await startReplica(t, sessions, config, one.folder);
  const { accessToken } = await one.api.signIn(username, password);
  const sets = { scopes: [], scope_sets: ['administrator'] };
  const { key: apiKey } = await one.api.mintKey(accessToken, { label: 'administration', ...sets });
  const load = startKeyLoad([one, other], perSecond);
  t.teardown(() => load.stop());
  return { gateways: [one, other], load, apiKey };
}

async function judgeNarrowings(t: Test, stage: Stage): Promise<void> {
  const { load } = stage;
  const spared = await use(stage, { apiKey: stage.apiKey });
  const sinceMs = performance.now();
  const requests = () => Object.values(load.counts).reduce((sum, count) => sum + count, 0);
  const before = requests();
  for (const [what, narrowing] of Object.entries(narrowings)) {
    const never = Number.NEGATIVE_INFINITY;
    const latest: Lateness = { here: never, there: never, stream: never };
    for (let round = 1; round <= rounds; round++)
      await playRound(t, stage, { name: `${what} ${round}`, narrowing }, latest);
    t.comment(`${what}, ${rounds} rounds; at most after these ms:`, latest);
    t.ok(latest.here <= 0, `${what}: nothing is let in where it was done (${latest.here} ms)`);
    t.ok(latest.there < 1_000 * leeway, `${what}: nor at the other gateway (${latest.there} ms)`);
    t.ok(latest.stream < 1_000 * leeway, `${what}: streams end (${latest.stream} ms)`);
  }
  t.comment(`${Math.round((requests() - before) / ((performance.now() - sinceMs) / 1_000))} requests/s`);
  t.equal(spared.inUse.failed, 0, 'what was not narrowed was let in each time');
  t.ok(spared.streams.every(({ isOpen }) => isOpen));
}

t.test('rights narrowed at one gateway are refused by both, on SQLite', { timeout }, async (t) => {
  const stores = { records: 'sqlite:records.db', sessions: 'sqlite:sessions.db' };
  await judgeNarrowings(t, await startStage(t, stores));
});

t.test(
  'rights narrowed at one gateway are refused by both, on PostgreSQL with Redis',
  { timeout },
  async (t) => {
    if (!requirePostgres(t) || !requireRedis(t)) return;
    const [postgres, redis] = await Promise.all([startPostgres(t), startRedis(t)]);
    await judgeNarrowings(t, await startStage(t, { records: postgres.url, sessions: redis.url }));
  },
);
