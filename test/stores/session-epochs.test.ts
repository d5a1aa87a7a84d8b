import t, { type Test } from 'tap';
import { userPassword, usersPath } from '../support/administration/user-administration.ts';
import { eventually } from '../support/eventually.ts';
import { administrator, bootstrapToken } from '../support/gateway/gateway.ts';
import type { GatewayProcess } from '../support/gateway/gateway-process.ts';
import { startReplica, statusesAt } from '../support/gateway/replicas.ts';
import { requirePostgres } from '../support/stores/postgres-programs.ts';
import { withPostgresRecords } from '../support/stores/postgres-replicas.ts';
import { startPostgres } from '../support/stores/postgres-server.ts';
import { requireRedis, startRedis } from '../support/stores/redis-server.ts';

const timeout = 600_000;
t.setTimeout(timeout);

const names = ['grace', 'lise', 'alan', 'barbara', 'edsger'] as const;
type Name = (typeof names)[number];

/** Two gateways on PostgreSQL and Redis, a key that administers users, and users whose sessions both have seen alive. */
async function start(t: Test) {
  const [postgres, redis] = await Promise.all([startPostgres(t), startRedis(t)]);
  const records = `${postgres.url}?schema=session_epochs`;
  const config = { endpoints: { users: 'own' }, stores: { records } };
  const one = await startReplica(t, redis.url, config);
  await one.api.activate(administrator.username, administrator.password, bootstrapToken);
  const other = await startReplica(t, redis.url, config, one.folder);
  const { accessToken: bearer } = await one.api.signIn(administrator.username, administrator.password);
  const { key: apiKey } = await one.api.mintKey(bearer, {
    label: 'k',
    scopes: [],
    scope_sets: ['administrator'],
  });
  const users = ({ api }: GatewayProcess, method: string, path: string, json?: object) =>
    api.send({ method, path: usersPath + path, apiKey, ...(json !== undefined && { json }) });
  const people = await Promise.all(
    names.map(async (name, index) => {
      const body = { username: name, password: userPassword, scopes: ['store:read'] };
      const created = await users(one, 'POST', '', body);
      if (created.status !== 201) throw new Error(created.text);
      const { accessToken, cookie } = await [one, other][index % 2]!.api.signIn(name, userPassword);
      for (const gateway of [one, other])
        t.strictSame(await statusesAt(gateway, [accessToken], []), [200], `${name} is seen`);
      return [name, { id: String(created.json.id), bearer: accessToken, cookie }] as const;
    }),
  );
  const by = Object.fromEntries(people) as Record<Name, (typeof people)[number][1]>;
  const endSessionsOf = ({ api }: GatewayProcess, id: string) =>
    api.send({ method: 'DELETE', path: `/api/admin/sessions/?user=${id}`, apiKey });
  return { one, other, redis, records, users, endSessionsOf, by };
}

t.test('ends of sessions count at once while Redis is away, and the sessions never come back', async (t) => {
  if (!requirePostgres(t) || !requireRedis(t)) return;
  const { one, other, redis, users, endSessionsOf, by } = await start(t);
  redis.pause();
  const responses = await Promise.all([
    users(one, 'PATCH', by.grace.id, { password: `${userPassword}, another` }),
    users(one, 'PATCH', by.lise.id, { disabled: true }),
    users(one, 'DELETE', by.alan.id),
    endSessionsOf(one, by.barbara.id),
  ]);
  t.strictSame(
    responses.map(({ status }) => status),
    [200, 200, 204, 204],
  );
  const ended = [by.grace, by.lise, by.alan, by.barbara];
  const bearers = ended.map(({ bearer }) => bearer);
  t.strictSame(await statusesAt(one, bearers, []), [401, 401, 401, 401], 'where they were changed');
  await eventually('elsewhere', async () =>
    (await statusesAt(other, bearers, [])).every((status) => status === 401),
  );
  t.strictSame(await statusesAt(other, [by.edsger.bearer], []), [200], 'who was seen alive passes');

  redis.resume();
  for (const gateway of [one, other])
    await eventually(
      'Redis is available again',
      async () => (await gateway.api.refresh(by.edsger.cookie)).status === 200,
      10_000,
    );
  t.equal((await users(other, 'PATCH', by.lise.id, { disabled: false })).status, 200);
  const cookies = ended.map(({ cookie }) => cookie);
  for (const gateway of [one, other, one]) {
    t.strictSame(
      await statusesAt(gateway, bearers, cookies),
      Array.from({ length: 8 }, () => 401),
    );
    t.strictSame(await statusesAt(gateway, [by.edsger.bearer], []), [200]);
  }
  await eventually('who is enabled signs in again', async () => {
    const { accessToken } = await other.api.signIn('lise', userPassword);
    return (await statusesAt(one, [accessToken], [])).every((status) => status === 200);
  });
});

t.test('an epoch of the tenant ends every session on every replica', async (t) => {
  if (!requirePostgres(t) || !requireRedis(t)) return;
  const { one, other, records, by } = await start(t);
  await withPostgresRecords(records, (store) =>
    store.endAllSessions({
      caller: { kind: 'command_line' },
      decide() {},
      audit: { drafts: () => [], onWritten() {} },
    }),
  );
  const bearers = Object.values(by).map(({ bearer }) => bearer);
  for (const gateway of [one, other])
    await eventually('they have ended', async () =>
      (await statusesAt(gateway, bearers, [])).every((status) => status === 401),
    );
  const { accessToken, cookie } = await one.api.signIn('grace', userPassword);
  t.strictSame(await statusesAt(other, [accessToken], [cookie]), [200, 200]);
});
