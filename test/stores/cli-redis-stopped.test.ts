import t from 'tap';
import { startUserAdministration, userPassword } from '../support/administration/user-administration.ts';
import { eventually } from '../support/eventually.ts';
import { commandsOn } from '../support/gateway/commands-on.ts';
import { requireRedis, startRedis } from '../support/stores/redis-server.ts';

t.setTimeout(600_000);

const newPassword = 'a password set without Redis';
const ended =
  /the session store is unavailable: the sessions have ended, but their entries stay in it until they expire/;
const people = ['changed', 'disabled', 'removed', 'revoked'] as const;

t.test('with Redis stopped, commands end sessions by the records and say so', async (t) => {
  if (!requireRedis(t)) return;
  const redis = await startRedis(t, { config: ['appendonly yes', 'appendfsync always'] });
  const gateway = await startUserAdministration(t, { stores: { sessions: redis.url } });
  const { api, create, signInAs, configFile, asAdministrator, users } = gateway;
  const run = commandsOn(configFile);
  const bearers = new Map<string, string>();
  for (const name of people) {
    await create(name, { scopes: ['store:read'] });
    bearers.set(name, (await signInAs(name)).bearer);
  }
  const status = async (name: string) =>
    (await api.send({ path: '/api/store/asset/1', bearer: bearers.get(name)! })).status;
  for (const name of people) t.equal(await status(name), 200, name);
  const { items } = (await api.send({ path: '/api/admin/sessions/?size=1', ...asAdministrator })).json;
  const session: string = items[0].id;

  await redis.stop();
  const results = await Promise.all([
    run(['user', 'set-password', 'changed'], `${newPassword}\n`),
    run(['user', 'disable', 'disabled']),
    run(['user', 'remove', 'removed']),
    run(['session', 'revoke', '--user', 'revoked']),
  ]);
  for (const [index, { code, stderr }] of results.entries()) {
    t.equal(code, 0, `${people[index]}: ${stderr}`);
    t.match(stderr, ended, people[index]!);
  }
  t.equal(results[3]!.stdout, 'All of them have ended; how many there were is unknown.\n');
  for (const name of people)
    await eventually(`${name} is signed out`, async () => (await status(name)) === 401);

  t.match(await run(['session', 'revoke', session]), {
    code: 1,
    stderr: /postern: the session store is unavailable, so the session goes on; --user NAME ends all of/,
  });
  const unlocked = await run(['user', 'unlock', 'changed']);
  t.notMatch(unlocked.stderr, /throttle_lifted/, 'no event claims it');
  t.match(unlocked, {
    code: 1,
    stderr:
      /postern: failed sign-ins are counted in the session store, which is unavailable: nothing was lifted\n$/,
  });
  t.match(await run(['session', 'list']), { code: 1, stderr: /postern: Store unavailable/ });
  t.equal((await run(['user', 'enable', 'disabled'])).code, 0, 'what ends no session needs no Redis');

  await redis.restart();
  await eventually('Redis is used again', async () => {
    const response = await api.send({ path: '/api/admin/sessions/', ...asAdministrator });
    return response.status === 200;
  });
  for (const name of people) t.equal(await status(name), 401, `${name}: no session comes back`);
  t.equal((await api.signIn('changed', newPassword)).response.status, 200);
  await t.rejects(api.signIn('changed', userPassword));
  t.match((await users('GET', '')).json.total, people.length, 'one was removed, the administrator is there');

  const all = await run(['session', 'revoke', '--all']);
  t.equal(all.code, 0, all.stderr);
  t.match(all.stdout, /^\d+ sessions? ha(?:s|ve) ended\.\n$/);
  t.notMatch(all.stderr, ended);
});
