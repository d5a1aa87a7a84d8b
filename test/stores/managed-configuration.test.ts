import argon2 from 'argon2';
import { ManagedProblems } from '../../src/administration/managed.ts';
import { eventually } from '../support/eventually.ts';
import { commandsOn } from '../support/gateway/commands-on.ts';
import { startTestGateway, type TestGateway } from '../support/gateway/gateway.ts';
import { scrape } from '../support/gateway/scrape.ts';
import { testOnEveryStore } from '../support/stores/every-store.ts';
import type { StoresConfig } from '../support/stores/stores-config.ts';

const password = 'a password of the tests';
const cheap = { memoryCost: 64, timeCost: 1, parallelism: 1 };
const passwordHash = await argon2.hash(password, cheap);
const asset = { path: '/api/store/asset/1' };
const root = { scope_sets: ['administrator'], password_hash: passwordHash };

/** A configuration with users and sets, for the stores of a test. */
function configOf(stores: StoresConfig, users: object, scope_sets: object = {}): object {
  return { endpoints: { users: 'own' }, ...stores, users, scope_sets };
}

/** Calls by the administrator of the configuration, `root`. */
async function administrationOf({ api }: TestGateway) {
  const bearer = (await api.signIn('root', password)).accessToken;
  const call = (method: string, path: string, json?: object) =>
    api.send({ method, path: `/api/admin/${path}`, bearer, ...(json !== undefined && { json }) });
  const find = async (area: 'users' | 'scope-sets', name: string) => {
    const field = area === 'users' ? 'username' : 'name';
    return (await call('GET', `${area}/?${field}__eq=${name}`)).json.items[0];
  };
  const audit = async (query = '') =>
    (await call('GET', `audit/?sort_order=asc&size=100${query}`)).json.items as any[];
  return { call, find, audit };
}

testOnEveryStore('users and sets of the configuration are there from the start', async (t, stores) => {
  const gateway = await startTestGateway(t, {
    config: configOf(
      stores,
      {
        root,
        Grace: {
          display_name: 'Grace H.',
          email: 'g@example.com',
          scope_sets: ['readers'],
          password_hash: passwordHash,
        },
        nightly: { kind: 'service', scopes: ['store:write'] },
      },
      { readers: { description: 'May read', scopes: ['store:read'] } },
    ),
  });
  const { call, find, audit } = await administrationOf(gateway);
  const readers = await find('scope-sets', 'readers');
  t.match(readers, { description: 'May read', scopes: ['store:read'], managed: true });
  const grace = await find('users', 'grace');
  t.match(grace, {
    username: 'Grace',
    display_name: 'Grace H.',
    email: 'g@example.com',
    kind: 'person',
    scopes: [],
    scope_sets: [readers.id],
    managed: true,
    disabled: false,
    has_password: true,
    effective_scopes: ['store:read'],
  });
  t.match(await find('users', 'nightly'), { kind: 'service', scopes: ['store:write'], has_password: false });
  const { accessToken: bearer } = await gateway.api.signIn('grace', password);
  t.equal((await gateway.api.send({ ...asset, bearer })).status, 200);

  const writes = [
    ['PATCH', `users/${grace.id}`, { display_name: 'G' }],
    ['PATCH', `users/${grace.id}`, { password: 'another password of the tests' }],
    ['PATCH', `users/${grace.id}`, { disabled: true }],
    ['DELETE', `users/${grace.id}`],
    ['POST', `users/${grace.id}/invitation`],
    ['PATCH', `scope-sets/${readers.id}`, { scopes: [] }],
    ['DELETE', `scope-sets/${readers.id}`],
  ] as const;
  for (const [method, path, body] of writes)
    t.match(await call(method, path, body), { status: 409, json: { code: 'managed' } }, `${method} ${path}`);
  const activated = await gateway.api.send({
    method: 'POST',
    path: '/api/bootstrap/activate',
    json: { token: 'bootstrap-token-of-the-tests', username: 'eve', password },
  });
  t.equal(activated.status, 409, 'an administrator of the configuration closes the bootstrap');

  const actor = { user: null, kind: 'configuration' };
  const events = (await audit()).filter((event) => event.actor.kind === 'configuration');
  t.match(events, [
    {
      event: 'scope_set_created',
      actor,
      target: { id: readers.id },
      changes: { scopes: { added: ['store:read'] } },
    },
    { event: 'user_created', actor, target: { id: grace.id } },
    { event: 'user_created', actor },
    { event: 'user_created', actor },
  ]);
  t.equal(events.length, 4);
});

testOnEveryStore('a reload brings users and sets in step', async (t, stores) => {
  const sets = { readers: { scopes: ['store:read'] }, writers: { scopes: ['store:write'] } };
  const gateway = await startTestGateway(t, {
    config: configOf(
      stores,
      {
        root,
        grace: { scope_sets: ['readers', 'writers'], password_hash: passwordHash },
        alan: { scopes: ['store:read'], password_hash: passwordHash },
      },
      sets,
    ),
  });
  const { api } = gateway;
  const { call, find, audit } = await administrationOf(gateway);
  const signedIn = await api.signIn('grace', password);
  const alan = await api.signIn('alan', password);
  const { id: alanId } = await find('users', 'alan');

  await gateway.reload(
    configOf(
      stores,
      { root, grace: { display_name: 'Grace', scope_sets: ['readers'], password_hash: passwordHash } },
      { readers: { scopes: ['store:read'], description: 'new' } },
    ),
  );
  const status = async (method: string, bearer: string) =>
    (await api.send({ ...asset, method, bearer })).status;
  t.equal(await status('GET', signedIn.accessToken), 200, 'no session ends for another set');
  t.equal(await status('POST', signedIn.accessToken), 403, 'what is gone is gone at once');
  t.equal(await status('GET', alan.accessToken), 401, 'who leaves is signed out');
  t.match(await find('users', 'alan'), { disabled: true, managed: true, scopes: ['store:read'] });
  t.equal((await api.refresh(alan.cookie)).status, 401);
  t.match(await find('users', 'grace'), { display_name: 'Grace' });
  const writers = await find('scope-sets', 'writers');
  t.match(writers, { managed: false, scopes: ['store:write'] }, 'a set that leaves stays');
  t.equal((await call('DELETE', `scope-sets/${writers.id}`)).status, 204, 'as any other');
  t.match(
    (await audit(`&target__eq=${alanId}`))
      .map(({ event }: any) => event)
      .filter((event) => !/login/.test(event)),
    ['user_created', 'user_disabled'],
  );

  await gateway.reload(configOf(stores, { root, alan: { password_hash: passwordHash } }));
  t.match(await find('users', 'alan'), { disabled: false, scopes: [] }, 'who comes back is enabled');
  t.equal((await api.signIn('alan', password)).response.status, 200);
  t.match(await find('users', 'grace'), { disabled: true });
});

/** Whether the gateway has said, since its log had `from` lines, what matches. */
function warned(gateway: TestGateway, pattern: RegExp, from = 0): boolean {
  return gateway
    .logLines()
    .slice(from)
    .some(({ level, msg }) => level === 'warn' && pattern.test(`${msg}`));
}

const notApplied = /a different configuration was applied later/;
const supersedes = /replaced those of a different one/;

testOnEveryStore(
  'of several gateways one applies a configuration, and none one that a newer reading superseded',
  async (t, stores) => {
    const old = configOf(stores, { root, grace: {} });
    const next = configOf(stores, { root, alan: {} });
    const first = await startTestGateway(t, { config: old });
    const { folder } = first;
    const second = await startTestGateway(t, { config: old, folder });
    const { find, audit } = await administrationOf(first);
    const created = async () => (await audit('&event__eq=user_created')).length;
    t.equal(await created(), 2, 'once');

    await Promise.all([first.reload(next), second.reload(next)]);
    t.equal(await created(), 3, 'once, by either of them');
    t.match(await find('users', 'grace'), { disabled: true });

    const third = await startTestGateway(t, { config: next, folder });
    t.notOk(warned(third, supersedes), 'it has what is in force');
    t.equal(await created(), 3);

    const other = configOf(stores, { root, alan: {}, eve: {} });
    await third.reload(other);
    t.notOk(warned(third, notApplied));
    t.match(await find('users', 'eve'), { disabled: false });
    await first.reload({ ...next, api_keys: { prefix: 'other' } });
    t.ok(warned(first, notApplied), 'what it has read before counts no more');
    t.match(await find('users', 'eve'), { disabled: false });
    t.match(await metric(first), 0);
    await third.reload(next);
    t.match(await find('users', 'eve'), { disabled: true }, 'put back by the same process');
    await first.reload(next);
    t.match(await metric(first), 1, 'in force again');
  },
);

testOnEveryStore('a configuration put back to an earlier content counts', async (t, stores) => {
  const old = configOf(stores, { root, grace: {} });
  const next = configOf(stores, { root, alan: {} });
  const first = await startTestGateway(t, { config: old });
  const { folder } = first;
  const { find, audit } = await administrationOf(first);
  const supersededOnes = async () =>
    (await audit('&event__eq=configuration_superseded')).map(({ target }) => target.id);
  const isOld = async () =>
    t.match(
      [await find('users', 'grace'), await find('users', 'alan')],
      [{ disabled: false }, { disabled: true }],
    );
  await first.reload(next);
  await first.reload(old);
  await isOld();
  t.notOk(warned(first, notApplied), 'by a reload');
  t.strictSame(await supersededOnes(), ['1', '2']);

  const second = await startTestGateway(t, { config: next, folder });
  t.ok(warned(second, supersedes));
  t.match(await find('users', 'alan'), { disabled: false });
  t.strictSame(await supersededOnes(), ['1', '2', '3']);
  const third = await startTestGateway(t, { config: old, folder });
  await isOld();
  t.ok(warned(third, supersedes), 'by a start');
  t.strictSame(await supersededOnes(), ['1', '2', '3', '4']);
  await second.reload({ ...next, api_keys: { prefix: 'other' } });
  await isOld();
  t.ok(warned(second, notApplied), 'not by one that was superseded and reads the same');

  const forced = await commandsOn(second.configFile)(['config', 'apply', '--json']);
  t.equal(forced.code, 0, forced.stderr);
  t.strictSame(forced.json, {
    users: { created: [], changed: ['alan'], disabled: ['grace'] },
    scope_sets: { created: [], changed: [], released: [] },
  });
  t.match(await find('users', 'alan'), { disabled: false }, 'but by command');
  t.match(await metric(second), 0);
  await second.reload(next);
  t.match(await metric(second), 1);
  await third.reload({ ...old, api_keys: { prefix: 'other' } });
  t.ok(warned(third, notApplied), 'now the other one is superseded');
  const again = await commandsOn(second.configFile)(['config', 'apply']);
  t.match(again, { code: 0, stdout: 'applied: nothing had to be changed\n' });
});

/** Whether what the gateway has read last is in use. */
async function metric({ managementPort }: TestGateway): Promise<number> {
  return (await scrape(managementPort)).value('config_last_reload_successful');
}

testOnEveryStore('who exists unmanaged is a problem, or taken over', async (t, stores) => {
  const gateway = await startTestGateway(t, { config: configOf(stores, { root }) });
  const { call, find } = await administrationOf(gateway);
  const grace = { username: 'grace', password, scopes: ['store:read'] };
  t.equal((await call('POST', 'users/', grace)).status, 201);
  t.equal((await call('POST', 'scope-sets/', { name: 'readers', scopes: [] })).status, 201);
  const session = await gateway.api.signIn('grace', password);
  const users = { root, GRACE: { scopes: ['store:write'] }, alan: {} };
  const sets = { readers: { scopes: ['store:read'] } };
  const refused = await gateway.reload(configOf(stores, users, sets)).catch((error) => error);
  t.type(refused, ManagedProblems);
  t.match(refused.findings, [
    { path: ['scope_sets', 'readers'], rule: /a scope set of that name exists .*adopt: true/ },
    { path: ['users', 'GRACE'], rule: /a user of that name exists/ },
  ]);
  t.equal(await find('users', 'alan'), undefined, 'nothing was applied');
  t.match(await find('users', 'grace'), { managed: false, scopes: ['store:read'] });

  const adopted = { ...users, GRACE: { scopes: ['store:write'], adopt: true } };
  await gateway.reload(configOf(stores, adopted, { readers: { scopes: ['store:read'], adopt: true } }));
  t.match(await find('users', 'grace'), {
    username: 'GRACE',
    managed: true,
    scopes: ['store:write'],
    has_password: true,
  });
  t.match(await find('scope-sets', 'readers'), { managed: true, scopes: ['store:read'] });
  t.equal((await gateway.api.refresh(session.cookie)).status, 200, 'whose session goes on');

  const kinds = { ...adopted, alan: { kind: 'service' } };
  const other = await gateway.reload(configOf(stores, kinds)).catch((error) => error);
  t.match(other.findings, [{ path: ['users', 'alan', 'kind'], rule: /must be person/ }]);
});

testOnEveryStore('the last administrator does not leave the configuration', async (t, stores) => {
  const gateway = await startTestGateway(t, { config: configOf(stores, { root }) });
  const { find } = await administrationOf(gateway);
  for (const users of [
    {},
    { root: { password_hash: passwordHash } },
    { alan: { scope_sets: ['administrator'] } },
  ]) {
    const refused = await gateway.reload(configOf(stores, users)).catch((error) => error);
    t.match(refused.findings, [{ rule: /would leave no administrator/ }], JSON.stringify(Object.keys(users)));
  }
  t.match(await find('users', 'root'), { disabled: false, scope_sets: ['administrator'] });
  await gateway.reload(configOf(stores, { alan: root }));
  t.equal((await gateway.api.signIn('alan', password)).response.status, 200, 'but may hand over');
});

testOnEveryStore(
  'a password of the configuration is set when it changes there, and only then',
  async (t, stores) => {
    // Of another cost than new hashes have: renewed at the next sign-in.
    const costly = await argon2.hash(password, { ...cheap, timeCost: 2 });
    const other = await argon2.hash('another password of the tests', cheap);
    const users = (password_hash?: string) => ({ root, grace: { ...(password_hash && { password_hash }) } });
    const gateway = await startTestGateway(t, { config: configOf(stores, users(costly)) });
    const { api } = gateway;
    const { find } = await administrationOf(gateway);
    const session = await api.signIn('grace', password);
    await gateway.reload(configOf(stores, { ...users(costly), alan: {} }));
    t.equal((await api.refresh(session.cookie)).status, 200, 'a renewed hash is not set again');
    await gateway.reload(configOf(stores, users(other)));
    t.equal((await api.refresh(session.cookie)).status, 401, 'a new password ends the sessions');
    t.equal((await api.signIn('grace', 'another password of the tests')).response.status, 200);
    await gateway.reload(configOf(stores, users()));
    t.match(await find('users', 'grace'), { has_password: false }, 'without one there is none any more');
  },
);

testOnEveryStore('who has left the configuration is taken over or removed by command', async (t, stores) => {
  const gateway = await startTestGateway(t, { config: configOf(stores, { root, grace: {}, alan: {} }) });
  const run = commandsOn(gateway.configFile);
  const { find } = await administrationOf(gateway);
  for (const args of [['set', '--scopes', ''], ['disable'], ['enable'], ['remove'], ['invite']])
    t.match(
      await run(['user', args[0]!, 'grace', ...args.slice(1)]),
      { code: 1, stderr: 'postern: "grace" is kept by the configuration: change it there\n' },
      args.join(' '),
    );
  await gateway.reload(configOf(stores, { root }));
  t.match(await run(['user', 'set', 'grace', '--scopes', '']), {
    code: 1,
    stderr: /has left the configuration/,
  });
  t.equal((await run(['user', 'enable', 'grace'])).code, 0);
  await eventually('it is an ordinary user', async () => (await find('users', 'grace')).managed === false);
  t.match(await find('users', 'grace'), { disabled: false });
  t.equal((await run(['user', 'remove', 'alan'])).code, 0);
  t.equal(await find('users', 'alan'), undefined);
});
