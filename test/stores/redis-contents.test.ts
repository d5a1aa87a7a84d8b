import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import t, { type Test } from 'tap';
import { newSession, sessionTimes } from '../contract/fixtures.ts';
import { newTenant, openRedisStoresUnderTest } from '../contract/redis-stores.ts';
import { eventually } from '../support/eventually.ts';
import { administrator } from '../support/gateway/gateway.ts';
import { repeat } from '../support/gateway/gateway-under-load.ts';
import { partsOf, sessionKey, startReplicas, statusesAt } from '../support/gateway/replicas.ts';
import { type RedisServer, requireRedis, startRedis } from '../support/stores/redis-server.ts';
import { walkGraceMs, walkThroughStore } from '../support/stores/store-walk.ts';

const { username, password } = administrator;
const idleMs = 60_000;
/** By how much a user's index outlasts its entries. */
const indexSlackMs = 60_000;
const sessions = { reuse_grace: `${walkGraceMs}ms`, idle_lifetime: `${idleMs}ms`, absolute_lifetime: '1h' };
t.setTimeout(600_000);

/** The contents of a Redis whose file is not compressed. */
async function dump(redis: RedisServer): Promise<{ keys: string[]; text: string }> {
  const keys = ((await redis.command('KEYS', '*')) as string[]).sort();
  await redis.command('SAVE');
  return { keys, text: readFileSync(join(redis.folder, 'dump.rdb'), 'latin1') };
}

const startReadable = (t: Test) => startRedis(t, { config: ['rdbcompression no'] });
const indexKey = (userId: string) => `postern:acme:user-sessions:{${userId}}`;

/** The sessions in a user's index, and until when it lists them, epoch ms. */
async function indexOf(redis: RedisServer, userId: string): Promise<Map<string, number>> {
  const reply = (await redis.command('ZRANGE', indexKey(userId), 0, -1, 'WITHSCORES')) as string[];
  return new Map(reply.flatMap((id, at) => (at % 2 === 0 ? [[id, Number(reply[at + 1])]] : [])));
}

t.test('everything stored expires, grants nothing, and lists no session that ended', async (t) => {
  if (!requireRedis(t)) return;
  const redis = await startReadable(t);
  const [one, other] = await startReplicas(t, [redis.url, redis.url], { sessions });
  const walk = await walkThroughStore(one, other);
  // The one that lives on has been refreshed, this one hasn't.
  await one.api.signIn(username, password);
  const { singleUse, sessions: store } = await openRedisStoresUnderTest(t, redis.url, { tenant: 'acme' });
  const provider = { issuer: 'https://login.example.com', subject: 'a-subject', sid: 'a-sid' };
  await store.create({ ...newSession('of a provider'), provider }, sessionTimes);
  t.equal(await singleUse.consume('an assertion', Date.now() + 60_000), true);
  const { keys, text } = await dump(redis);

  await t.test('every key has a time to live', async (t) => {
    const kinds = new Set(keys.map((key) => key.split(':').slice(0, 3).join(':')));
    t.same(
      [...kinds].sort(),
      ['attempts', 'provider-sessions', 'session', 'session-list', 'used', 'user-sessions'].map(
        (kind) => `postern:acme:${kind}`,
      ),
    );
    for (const key of keys) {
      const ttl = Number(await redis.command('PTTL', key));
      t.ok(ttl > 0 && ttl <= 900_000, `${key}: ${ttl} ms`);
    }
  });

  await t.test('it holds no cookie, token or password', async (t) => {
    t.ok(text.includes(partsOf(walk.alive.cookie).id), 'what is stored can be found');
    const macs = walk.cookies.map((cookie) => partsOf(cookie).mac);
    const bytes = macs.map((mac) => Buffer.from(mac, 'base64url').toString('latin1'));
    const signatures = walk.bearers.map((bearer) => bearer.split('.')[2]!);
    for (const one of [...macs, ...bytes, ...signatures, ...walk.passwords]) t.notOk(text.includes(one));
  });

  await t.test('ended sessions are removed, from the index too', async (t) => {
    const live = partsOf(walk.alive.cookie).id;
    const { userId } = walk.alive;
    await eventually(
      'the index lists nothing else',
      async () => (await indexOf(redis, userId)).size === 1,
      5_000,
    );
    t.same([...(await indexOf(redis, userId)).keys()], [live]);
    for (const [how, cookie] of Object.entries(walk.ended)) t.notOk(keys.includes(sessionKey(cookie)), how);
  });
});

t.test('a user’s index is bounded by the live sessions', async (t) => {
  if (!requireRedis(t)) return;
  const redis = await startRedis(t);
  const [one, other] = await startReplicas(t, [redis.url, redis.url], { sessions });
  const { accessToken, cookie } = await one.api.signIn(username, password);
  const userId = String(await redis.command('HGET', sessionKey(cookie), 'userId'));
  await repeat(100, 4, async () => {
    const { accessToken: bearer } = await one.api.signIn(username, password);
    await other.api.send({ path: '/api/logout', bearer });
  });
  await eventually('it lists one', async () => (await indexOf(redis, userId)).size === 1);

  const { id } = partsOf(cookie);
  const [until] = (await indexOf(redis, userId)).values();
  const expires = Number(await redis.command('HGET', sessionKey(cookie), 'expires'));
  const outlastsMs = until! - expires;
  t.ok(outlastsMs > 0 && outlastsMs <= idleMs + indexSlackMs, `it outlasts the session by ${outlastsMs} ms`);
  const goesInMs = Number(await redis.command('PTTL', indexKey(userId)));
  t.ok(goesInMs > 0 && goesInMs <= 2 * idleMs + indexSlackMs, `and expires in ${goesInMs} ms`);

  // As a session that expired leaves it.
  await redis.command('ZADD', indexKey(userId), Date.now() - 1, 'expired');
  await one.api.signIn(username, password);
  const known = await indexOf(redis, userId);
  t.notOk(known.has('expired'), 'the next sign-in removes it');
  t.ok(known.has(id));
  t.same(await statusesAt(other, [accessToken], [cookie]), [200, 200]);
});

t.test('two tenants on one Redis share nothing', async (t) => {
  if (!requireRedis(t)) return;
  const redis = await startReadable(t);
  const login_throttle = { per_account_and_address: 2, per_account: 2, per_address: 2 };
  const start = (tenant: string) => startReplicas(t, [redis.url], { tenant, sessions, login_throttle });
  const [[acme], [beta]] = await Promise.all([start('acme'), start('beta')]);
  const ours = await acme.api.signIn(username, password);
  const theirs = await beta.api.signIn(username, password);
  t.same(await statusesAt(acme, [theirs.accessToken], [theirs.cookie]), [401, 401]);
  t.same(await statusesAt(beta, [ours.accessToken], [ours.cookie]), [401, 401]);
  t.equal((await beta.api.send({ path: '/api/logout', cookie: ours.cookie })).status, 401);

  const tenants: Record<string, string> = { acme: partsOf(ours.cookie).id, beta: partsOf(theirs.cookie).id };
  const { keys } = await dump(redis);
  for (const key of keys) t.match(key, /^postern:(?:acme|beta):/);
  for (const [tenant, id] of Object.entries(tenants))
    t.ok(keys.filter((key) => key.includes(id)).every((key) => key.startsWith(`postern:${tenant}:`)));

  const form = { username, password: 'not the password' };
  const fail = { method: 'POST', path: '/api/login/access-token', form };
  for (const status of [401, 401, 429]) t.equal((await acme.api.send(fail)).status, status);
  t.equal((await beta.api.signIn(username, password)).response.status, 200, 'attempts are counted apart');
  t.equal((await acme.api.send({ path: '/api/logout', bearer: ours.accessToken })).status, 200);
  t.same(await statusesAt(beta, [theirs.accessToken], [theirs.cookie]), [200, 200]);
});

t.test('a tenant ends no session of another, even of the same id', async (t) => {
  if (!requireRedis(t)) return;
  const redis = await startRedis(t);
  const open = () => openRedisStoresUnderTest(t, redis.url, { tenant: newTenant() });
  const [one, other] = [await open(), await open()];
  const times = { idleLifetimeMs: 60_000, absoluteLifetimeMs: 600_000, reuseGraceMs: 1_000 };
  const session = {
    id: 'the-same',
    userId: 'u',
    method: 'password',
    scope: null,
    address: '',
    userAgent: '',
    epoch: 0,
  };
  for (const { sessions } of [one, other]) await sessions.create(session, times);
  t.ok(await one.sessions.revoke(session.id));
  t.same(await one.sessions.revokeAllOf('u'), []);
  t.notOk(await one.sessions.findLive(session.id));
  t.ok(await other.sessions.find(session.id));
  t.ok(await other.sessions.findLive(session.id));
  const until = Date.now() + 60_000;
  t.same([await one.singleUse.consume('x', until), await other.singleUse.consume('x', until)], [true, true]);
});
