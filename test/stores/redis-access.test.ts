import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import t, { type Test } from 'tap';
import { newSession, sessionTimes, startOfTime } from '../contract/fixtures.ts';
import { accessTo, openRedisStoresUnderTest } from '../contract/redis-stores.ts';
import { addUser } from '../support/administration/accounts.ts';
import { eventually } from '../support/eventually.ts';
import { administrator, bootstrapToken } from '../support/gateway/gateway.ts';
import { logText, startReplica, statusesAt } from '../support/gateway/replicas.ts';
import { scrape } from '../support/gateway/scrape.ts';
import { requireProgram } from '../support/programs.ts';
import { makeCertificate } from '../support/servers/certificates.ts';
import {
  type RedisOptions,
  type RedisServer,
  requireRedis,
  startRedis,
} from '../support/stores/redis-server.ts';
import { walkGraceMs, walkThroughStore } from '../support/stores/store-walk.ts';

/** Every command that a Redis user needs permission for to run the session store. */
const commands = [
  ...['client|setname', 'info', 'ping', 'time', 'subscribe', 'publish'],
  ...['eval', 'evalsha', 'del', 'exists', 'pexpireat', 'pttl', 'set', 'incrby'],
  ...['hgetall', 'hmget', 'hset', 'hdel', 'zadd', 'zscore', 'zcard', 'zcount'],
  ...['zrange', 'zrevrange', 'zrem', 'zremrangebyscore'],
];
const secret = 'a:secret/with@every%thing';
const wrongSecret = 'another-secret';
const secretVariable = 'POSTERN_TEST_REDIS_PASSWORD';
const onlyFor = (rules: string) => ({ users: ['default off', `gateway on >${secret} ${rules}`] });
const least = `~postern:acme:* resetchannels &postern:acme:* -@all ${commands.map((name) => `+${name}`).join(' ')}`;
t.setTimeout(600_000);

/** A way to connect to Redis: its set-up, and the configuration for it. */
interface Way {
  readonly redis?: RedisOptions;
  /** Default: the URL of the Redis. */
  readonly address?: (redis: RedisServer) => string;
  readonly stores?: object;
}

/** A folder for files of a test. */
function makeFolder(t: Test): string {
  const folder = mkdtempSync(join(tmpdir(), 'postern-access-'));
  t.teardown(() => rmSync(folder, { recursive: true }));
  return folder;
}

function certificatesIn(folder: string) {
  const make = (label: string) => makeCertificate(folder, label, ['IP:127.0.0.1']);
  const [tls, other] = [make('redis'), make('other')];
  return {
    tls,
    other,
    ca: { sessions_tls: { ca: tls.certFile } },
    client: { sessions_tls: { ca: tls.certFile, cert: tls.certFile, key: tls.keyFile } },
    asksForClient: { tls, config: ['tls-auth-clients yes'] },
  };
}

const goodWays: Readonly<Record<string, Way>> = {
  'a Unix socket': { address: ({ socket }) => `redis+unix:${socket}` },
  'the user, password and database of an address': {
    redis: onlyFor('~* &* +@all'),
    address: ({ port }) => `redis://gateway:${encodeURIComponent(secret)}@127.0.0.1:${port}/3`,
  },
  'one password for all users': {
    redis: { config: [`requirepass ${secret}`] },
    stores: { sessions_password: { env: secretVariable } },
  },
};

/** Starts a gateway on a Redis that is reached this way, and gives the status of a sign-in. */
async function startBy(t: Test, { redis: options, address = ({ url }) => url, stores = {} }: Way) {
  const redis = await startRedis(t, options);
  const gateway = await startReplica(t, address(redis), { stores });
  const { username, password } = administrator;
  await gateway.api.activate(username, password, bootstrapToken);
  const form = { username, password };
  const response = await gateway.api.send({ method: 'POST', path: '/api/login/access-token', form });
  return { redis, gateway, response };
}

async function judgeReached(t: Test, way: Way): Promise<void> {
  const { gateway, response } = await startBy(t, way);
  t.equal(response.status, 200);
  const cookie = response.setCookies[0]!.split(';', 1)[0]!;
  t.same(await statusesAt(gateway, [response.json.access_token], [cookie]), [200, 200]);
  t.equal((await gateway.api.send({ path: '/api/logout', cookie })).status, 200);
  t.same(await statusesAt(gateway, [response.json.access_token], [cookie]), [401, 401]);
}

/** An unavailable Redis is a response, and not the end of the gateway. */
async function judgeAway(t: Test, way: Way): Promise<void> {
  const { gateway, response } = await startBy(t, way);
  t.match(response, {
    status: 503,
    json: { code: 'store_unavailable' },
    headers: { 'retry-after': /^\d+$/ },
  });
  const ready = await fetch(`http://127.0.0.1:${gateway.managementPort}/readyz`);
  t.equal(ready.status, 200);
  t.match(await ready.json(), { dependencies: { records: { ok: true }, sessions: { ok: false } } });
  const isLogged = () => logText(gateway.folder).includes('"msg":"store unavailable"');
  await t.resolves(eventually('a line about the store', isLogged), 'the log gives the reason');
  t.notOk(logText(gateway.folder).includes(wrongSecret));
}

t.test('the session store is reached by', async (t) => {
  if (!requireRedis(t)) return;
  process.env[secretVariable] = secret;
  t.teardown(() => delete process.env[secretVariable]);
  for (const [name, way] of Object.entries(goodWays)) await t.test(name, (t) => judgeReached(t, way));
});

t.test('the session store is reached by TLS', async (t) => {
  if (!requireRedis(t) || !requireProgram(t, 'openssl')) return;
  const { tls, other, ca, client, asksForClient } = certificatesIn(makeFolder(t));
  await t.test('with its authority', (t) => judgeReached(t, { redis: { tls }, stores: ca }));
  await t.test('with a client certificate', (t) => judgeReached(t, { redis: asksForClient, stores: client }));
  const away: Readonly<Record<string, Way>> = {
    'not with the authorities that Node trusts': { redis: { tls } },
    'not with another authority': {
      redis: { tls },
      stores: { sessions_tls: { ca: other.certFile } },
    },
    'not without the client certificate that it requires': { redis: asksForClient, stores: ca },
    'not with a wrong password': {
      redis: { ...onlyFor('~* &* +@all'), tls },
      stores: { ...ca, sessions_username: 'gateway', sessions_password: wrongSecret },
    },
  };
  // Each waits for its Redis for some seconds.
  t.jobs = 4;
  for (const [name, way] of Object.entries(away)) void t.test(name, (t) => judgeAway(t, way));
});

/** Uses a session for so long that it has to be indexed again, by a refresh and by a noted use. */
async function useForLong(t: Test, redis: RedisServer): Promise<void> {
  let now = startOfTime;
  const { sessions } = await openRedisStoresUnderTest(t, redis.url, {
    tenant: 'acme',
    access: { ...accessTo(redis.url), username: 'gateway', password: secret },
    testClock: () => now,
  });
  const provider = { issuer: 'https://login.example.com', subject: 's', sid: 'sid' };
  for (const id of ['refreshed', 'noted'])
    await sessions.create({ ...newSession(id, 'long'), provider }, sessionTimes);
  const end = startOfTime + sessionTimes.absoluteLifetimeMs;
  for (let generation = 1; now < end - 60_000; generation += 1) {
    now += 60_000;
    t.match(await sessions.present('refreshed', generation, sessionTimes), { outcome: 'current' });
    await sessions.noteUse(new Map([['noted', now]]), sessionTimes);
  }
  t.equal((await sessions.idsOfProvider(provider)).length, 2);
  t.same((await sessions.revokeAllOf('long')).toSorted(), ['noted', 'refreshed']);
}

t.test('a Redis user needs the documented commands, keys and channel, and no more', async (t) => {
  if (!requireRedis(t)) return;
  process.env[secretVariable] = secret;
  t.teardown(() => delete process.env[secretVariable]);
  const file = join(makeFolder(t), 'secret');
  writeFileSync(file, `${secret}\n`);
  const redis = await startRedis(t, onlyFor(least));
  const sessions = { reuse_grace: `${walkGraceMs}ms` };
  const startWith = (sessions_password: object, folder?: string) => {
    // So short that sessions in use are rechecked before the walk is over.
    const stores = { sessions_username: 'gateway', sessions_password, sessions_liveness_age: '300ms' };
    return startReplica(t, redis.url, { sessions, stores }, folder);
  };
  const one = await startWith({ env: secretVariable });
  const other = await startWith({ file }, one.folder);
  await walkThroughStore(one, other);
  t.equal((await scrape(one.managementPort)).value('sessions'), 1);
  const { api } = one;
  const reader = { username: 'reader', password: 'who is signed in here', scopes: ['sessions:read'] };
  await addUser(one.folder, reader);
  const { accessToken: bearer } = await api.signIn(reader.username, reader.password);
  const path = '/api/admin/sessions/?sort_by=created&created__gte=2026-01-01T00:00:00Z';
  t.match(await api.send({ path, bearer }), { status: 200, json: { total: 2 } });
  await useForLong(t, redis);
  t.same(await redis.command('ACL', 'LOG'), [], 'nothing was denied');
  t.notOk(logText(one.folder).includes(secret));
  const used = String(await redis.command('INFO', 'commandstats'));
  for (const name of commands) t.match(used, `cmdstat_${name}:`, `${name} was used`);
});
