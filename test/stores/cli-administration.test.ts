import { startUserAdministration, userPassword } from '../support/administration/user-administration.ts';
import { eventually } from '../support/eventually.ts';
import { startPostern } from '../support/gateway/command.ts';
import { commandsOn } from '../support/gateway/commands-on.ts';
import { testOnEveryStore } from '../support/stores/every-store.ts';

const input = `${userPassword}\n`;
const byCommand = { actor: { user: null, kind: 'command_line' }, address: null, request_id: null };

testOnEveryStore('users are administered by commands, with an audit event for each', async (t, stores) => {
  const gateway = await startUserAdministration(t, stores);
  const { api, users, auditOf, administratorId, configFile } = gateway;
  const run = commandsOn(configFile);
  const added = await run(['user', 'add', 'grace', '--scopes', 'store:read'], input);
  t.equal(added.code, 0, added.stderr);
  const grace = added.stdout.trimEnd();
  t.match((await users('GET', grace)).json, {
    username: 'grace',
    scopes: ['store:read'],
    has_password: true,
  });
  const bearer = (await gateway.signInAs('grace')).bearer;
  const status = async () => (await api.send({ path: '/api/store/asset/1', bearer })).status;
  t.equal(await status(), 200);

  t.equal((await run(['user', 'set', 'grace', '--scopes', ''])).code, 0);
  await eventually('the scope is gone', async () => (await status()) === 403);
  t.equal(
    (await run(['user', 'set', 'grace', '--scopes', 'store:read', '--email', 'g@example.com'])).code,
    0,
  );
  await eventually('it is back', async () => (await status()) === 200);
  t.equal((await run(['user', 'disable', 'grace'])).code, 0);
  await eventually('the session is over', async () => (await status()) === 401);
  t.equal((await run(['user', 'enable', 'grace'])).code, 0);
  t.equal((await run(['user', 'set-password', 'grace'], input)).code, 0);
  t.equal((await run(['user', 'remove', 'grace'])).code, 0);
  t.equal((await users('GET', grace)).status, 404);

  const events = await auditOf(grace);
  t.strictSame(
    events.map(({ event }) => event),
    [
      ...[
        'user_created',
        'user_changed',
        'user_changed',
        'user_disabled',
        'user_enabled',
        'password_changed',
      ],
      'user_removed',
    ],
  );
  for (const event of events) t.match(event, byCommand, event.event);
  t.strictSame(events[2].changes, { fields: ['email'], scopes: { added: ['store:read'], removed: [] } });
  t.match(await run(['user', 'disable', 'ada']), { code: 1, stderr: /last enabled administrator/ });
  t.equal((await auditOf(administratorId)).filter(({ event }) => event === 'user_disabled').length, 0);
});

testOnEveryStore('an invitation made by a command sets a password', async (t, stores) => {
  const { api, create, auditOf, configFile } = await startUserAdministration(t, stores);
  const run = commandsOn(configFile);
  await run(['user', 'add', 'grace', '--without-password']);
  const invited = await run(['user', 'invite', 'grace', '--json']);
  t.match(invited.json, { token: /./, expires: /Z$/ });
  const token = (await run(['user', 'invite', 'GRACE'])).stdout.trimEnd();
  const redeem = (json: object) => api.send({ method: 'POST', path: '/api/login/invitation', json });
  t.equal(
    (await redeem({ token: invited.json.token, password: userPassword })).status,
    401,
    'only the newest counts',
  );
  t.equal((await redeem({ token, password: userPassword })).status, 204);
  t.equal((await api.signIn('grace', userPassword)).response.status, 200);
  const { id } = (await run(['user', 'show', 'grace', '--json'])).json;
  t.match(
    (await auditOf(id)).filter(({ event }) => event === 'invitation_created'),
    [byCommand, byCommand],
  );
  await create('ci', { kind: 'service', password: null });
  t.match(await run(['user', 'invite', 'ci']), {
    code: 1,
    stderr: /"ci" is a service, which never signs in\n$/,
  });
});

testOnEveryStore('who has failed too often may try again after a command', async (t, stores) => {
  const gateway = await startUserAdministration(t, {
    ...stores,
    login_throttle: { per_account_and_address: 2, per_account: 2 },
  });
  const { api, create, auditOf, configFile } = gateway;
  const { id } = await create('grace');
  const attempt = (password: string) =>
    api.send({ method: 'POST', path: '/api/login/access-token', form: { username: 'grace', password } });
  for (const status of [401, 401, 429]) t.equal((await attempt('wrong')).status, status);
  t.equal((await commandsOn(configFile)(['user', 'unlock', 'Grace'])).code, 0);
  t.equal((await attempt(userPassword)).status, 200);
  t.match((await auditOf(id)).at(-1), { event: 'throttle_lifted', ...byCommand });
});

testOnEveryStore('a hash made elsewhere is taken, and renewed at the next sign-in', async (t, stores) => {
  const { api, configFile } = await startUserAdministration(t, stores);
  const run = commandsOn(configFile);
  // Of `a password of the tests`, by libxcrypt and Python's hashlib.
  const hashes = {
    bcrypt: '$2y$04$abcdefghijklmnopqrstuuzzjWYX9ziq/z9PGEfqaY.69BPe06tMC',
    scrypt: '$scrypt$ln=4,r=8,p=1$MDEyMzQ1Njc4OWFiY2RlZg$pYOUxwKbi6y86Vgk+n6r7lmjo8SMMC0hp5Bu/k7OkJc',
    pbkdf2: '$pbkdf2-sha256$1000$MDEyMzQ1Njc4OWFiY2RlZg$zAFhfmMM/uJEOdMJ8PCwOdsW.Job59UYi9.8sThKpEM',
  };
  for (const [name, hash] of Object.entries(hashes)) {
    const added = await run(['user', 'add', name, '--password-hash'], `${hash}\n`);
    t.match(added, { code: 0 }, name);
    t.notMatch(added.stderr, hash);
    for (const attempt of ['first', 'second'])
      t.equal((await api.signIn(name, userPassword)).response.status, 200, `${name}, ${attempt} sign-in`);
    await t.rejects(api.signIn(name, `${userPassword}!`), /answered 401/);
  }
  const refused = await run(['user', 'add', 'eve', '--password-hash'], `${userPassword}\n`);
  t.match(refused, { code: 1, stderr: /the password hash must be a hash beginning with / });
  t.notMatch(refused.stderr, userPassword);
  t.match(await run(['user', 'add', 'eve', '--password-hash', '--service']), {
    code: 2,
    stderr: /--service and --password-hash exclude each other/,
  });
});

testOnEveryStore('scope sets are administered by commands', async (t, stores) => {
  const gateway = await startUserAdministration(t, stores);
  const { api, configFile, auditOf } = gateway;
  const run = commandsOn(configFile);
  const added = await run([
    'scope-set',
    'add',
    'readers',
    '--scopes',
    'store:read',
    '--description',
    'May read',
  ]);
  t.equal(added.code, 0, added.stderr);
  const id = added.stdout.trimEnd();
  t.match(await run(['scope-set', 'add', 'readers', '--scopes', 'store:read']), {
    code: 1,
    stderr: 'postern: scope set "readers" already exists\n',
  });
  await run(['user', 'add', 'grace', '--scope-set', 'readers'], input);
  const { bearer } = await gateway.signInAs('grace');
  const status = async () => (await api.send({ path: '/api/store/asset/1', bearer })).status;
  t.equal(await status(), 200);
  t.equal(
    (await run(['scope-set', 'set', 'readers', '--scopes', 'store:write', '--name', 'writers'])).code,
    0,
  );
  await eventually('the set has shrunk', async () => (await status()) === 403);
  const listed = await run(['scope-set', 'list', '--json']);
  t.match(listed.json, [
    { id: 'administrator' },
    { id, name: 'writers', description: 'May read', scopes: ['store:write'] },
  ]);
  t.match(
    (await run(['scope-set', 'list'])).stdout,
    /^NAME +KIND .*\nadministrator +built in +never .*\nwriters +own /,
  );

  const refused = [
    { args: ['scope-set', 'remove', 'writers'], code: 1, says: /"writers" is in use: / },
    {
      args: ['scope-set', 'add', 'Administrator', '--scopes', ''],
      code: 1,
      says: /"Administrator" reads as administrator, the built-in scope set/,
    },
    { args: ['scope-set', 'remove', 'readers'], code: 1, says: /no such scope set: readers/ },
    { args: ['scope-set', 'set', 'administrator', '--scopes', ''], code: 1, says: /built in/ },
    { args: ['scope-set', 'set', 'writers'], code: 2, says: /needs --scopes, --name or --description/ },
    { args: ['scope-set', 'add', 'x'], code: 2, says: /scope-set add needs --scopes/ },
    { args: ['scope-set', 'add', ' ', '--scopes', ''], code: 2, says: /name: .*at least 1 character/ },
    { args: ['scope-set', 'add', 'x', '--scopes', 'nope'], code: 1, says: /not in the catalogue/ },
  ];
  for (const { args, code, says } of refused)
    t.match(await run(args), { code, stderr: says }, args.join(' '));

  await run(['user', 'set', 'grace', '--scope-set', '']);
  t.equal((await run(['scope-set', 'remove', 'writers'])).code, 0);
  const events = await auditOf(id);
  t.strictSame(
    events.map(({ event }) => event),
    ['scope_set_created', 'scope_set_changed', 'scope_set_removed'],
  );
  for (const event of events) t.match(event, byCommand);
});

testOnEveryStore('a key is created, given to another user and revoked by commands', async (t, stores) => {
  const gateway = await startUserAdministration(t, stores);
  const { api, configFile, auditOf } = gateway;
  const run = commandsOn(configFile);
  await gateway.create('grace', { scopes: ['store:read'] });
  const { id: alan } = await gateway.create('alan');
  const made = await run([
    'key',
    'create',
    '--user',
    'grace',
    '--label',
    'ci',
    '--scopes',
    'store:read',
    '--json',
  ]);
  const { id, key: apiKey } = made.json;
  const use = () => api.send({ path: '/api/store/asset/1', apiKey });
  t.equal((await use()).status, 200);
  const moved = await run(['key', 'transfer', id, '--user', 'alan']);
  t.match(moved, { code: 0, stdout: '', stderr: /"alan" does not hold store:read: / });
  await eventually('bounded by the new owner', async () => (await use()).status === 403);
  t.match((await run(['key', 'list', '--user', 'alan', '--json'])).json, [{ id, created_by: { id: alan } }]);
  t.same((await run(['key', 'list', '--user', 'grace', '--json'])).json, []);
  t.match((await run(['key', 'list', '--user', 'grace'])).stdout, 'There are no API keys.\n');
  t.match(await run(['key', 'transfer', id, '--user', 'alan']), { code: 1, stderr: /already\n$/ });
  t.match(await run(['key', 'transfer', 'none', '--user', 'alan']), {
    code: 1,
    stderr: /no key with id "none"/,
  });
  await run(['user', 'disable', 'grace']);
  t.match(await run(['key', 'transfer', id, '--user', 'grace']), { code: 1, stderr: /"grace" is disabled/ });
  t.equal((await run(['key', 'revoke', id])).code, 0);
  await eventually('it is gone', async () => (await use()).status === 401);
  const events = await auditOf(id);
  t.match(events, [
    { event: 'api_key_created', changes: { scopes: { added: ['store:read'] } }, ...byCommand },
    { event: 'api_key_transferred', changes: { fields: ['created_by'] }, ...byCommand },
    { event: 'api_key_deleted', ...byCommand },
  ]);
  t.equal(events.length, 3);
});

testOnEveryStore('sessions are listed and ended by commands', async (t, stores) => {
  const gateway = await startUserAdministration(t, stores);
  const { api, configFile, auditOf, asAdministrator } = gateway;
  const run = commandsOn(configFile);
  const { id: grace } = await gateway.create('grace', { scopes: ['store:read'] });
  const [first, second] = [await gateway.signInAs('grace'), await gateway.signInAs('grace')];
  const status = async (credential: { bearer: string }) =>
    (await api.send({ path: '/api/else', ...credential })).status;
  const listed = (await run(['session', 'list', '--user', 'Grace', '--json'])).json;
  t.match(listed, [
    {
      user: { id: grace, username: 'grace' },
      method: 'password',
      scopes: ['store:read'],
      address: '127.0.0.1',
    },
    { expires: /Z$/, last_used: /Z$/, created: /Z$/ },
  ]);
  t.equal(listed.length, 2);
  t.equal((await run(['session', 'list', '--json'])).json.length, 3);
  t.match((await run(['session', 'list'])).stdout, /^ID +USER +CLIENT .*\n.* grace .* password$/m);

  // The newest first.
  const revoked = await run(['session', 'revoke', listed[0].id]);
  t.match(revoked, { code: 0, stdout: '1 session has ended.\n' });
  await eventually('it has ended', async () => (await status(second)) === 401);
  t.equal(await status(first), 200);
  await eventually('it is audited', async () => (await auditOf(listed[0].id)).length > 1);
  t.match((await auditOf(listed[0].id)).at(-1), { event: 'session_revoked', ...byCommand });
  t.match(await run(['session', 'revoke', listed[0].id]), { code: 1, stderr: /no live session with id/ });

  t.match(await run(['session', 'revoke', '--user', 'grace']), { code: 0, stdout: '1 session has ended.\n' });
  await eventually('it has ended', async () => (await status(first)) === 401);
  t.match((await run(['session', 'list', '--user', 'grace'])).stdout, 'There are no sessions.\n');
  t.match((await auditOf(grace)).at(-1), { event: 'sessions_ended', ...byCommand });
  t.equal(await status(asAdministrator), 200);
  t.equal((await run(['session', 'revoke', '--all', '--json'])).json.length, 1);
  await eventually('all have ended', async () => (await status(asAdministrator)) === 401);
  for (const args of [[], ['x', '--all'], ['--user', 'grace', '--all']])
    t.match(await run(['session', 'revoke', ...args]), {
      code: 2,
      stderr: /takes one of ID, --user NAME and --all/,
    });
});

testOnEveryStore('the audit is shown, and followed, by a command', async (t, stores) => {
  const { create, configFile } = await startUserAdministration(t, stores);
  const run = commandsOn(configFile);
  await create('grace', { scopes: ['store:read'] });
  const listed = await run(['audit', 'list', '--event', 'user_created', '--json']);
  t.match(listed.json.at(-1), { event: 'user_created', actor: { kind: 'session' } });
  const lines = (await run(['audit', 'list', '--limit', '1'])).stdout.trimEnd().split('\n');
  t.equal(lines.length, 2);
  t.match(lines[0], /^TIME +EVENT +OUTCOME +ACTOR +TARGET +ADDRESS +DETAIL$/);
  t.match(
    lines[1],
    /^\d{4}-\d\d-\d\d \d\d:\d\d:\d\dZ +user_created +success +ada +grace +127\.0\.0\.1 .*\+store:read$/,
  );
  await create('system');
  t.match((await run(['audit', 'list', '--limit', '1'])).stdout, /user_created +success +ada +"system" /);
  t.match(await run(['audit', 'list', '--limit', '0']), {
    code: 2,
    stderr: /--limit must be a whole number/,
  });

  const follow = ['audit', 'list', '--follow', '--json', '--limit', '1', '--config', configFile];
  const following = startPostern(follow);
  t.teardown(() => following.child.kill('SIGKILL'));
  const seen = () =>
    following
      .printed()
      .stdout.split('\n')
      .filter((line) => line !== '')
      .map((line) => JSON.parse(line).event);
  await eventually('it shows what there is', () => seen().length === 1);
  await create('alan');
  await create('edsger');
  await eventually('it shows what comes', () => seen().length === 3);
  t.strictSame(seen(), ['user_created', 'user_created', 'user_created']);
  following.child.kill('SIGINT');
  t.equal((await following.ended).code, 0);
});
