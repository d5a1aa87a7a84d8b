import t from 'tap';
import { type CommandFolder, createCommandFolder } from '../support/gateway/command.ts';

const password = 'correct horse battery staple';
const otherPassword = 'a new horse, another battery';
const asset = { path: '/api/store/asset/1' };

async function addUser({ run }: CommandFolder, name: string, ...options: string[]): Promise<string> {
  const { code, stdout, stderr } = await run(['user', 'add', name, ...options], { input: `${password}\n` });
  if (code !== 0) throw new Error(stderr);
  return stdout.trimEnd();
}

t.test('a user made on the command line signs in at the running gateway', async (t) => {
  const folder = createCommandFolder(t);
  const { api } = await folder.serve();
  const result = await folder.run(['user', 'add', ' Ada ', '--scopes', 'store:write  store:read', '--json'], {
    input: `${password}\nwhat follows the first line is not read`,
  });
  t.equal(result.code, 0);
  const { id } = result.json;
  t.match(result.json, { username: 'Ada', disabled: false, scope_sets: [], display_name: null, email: null });
  t.match(result.audit, [
    { audit: true, event: 'user_created', outcome: 'success', actor: { kind: 'command_line' }, subject: id },
  ]);
  t.notMatch(result.stderr + result.stdout, password);
  const { response } = await api.signIn('ada', password);
  t.equal(response.json.scope, 'store:read store:write');
});

t.test('users are listed by name, with the fields of the HTTP API', async (t) => {
  const folder = createCommandFolder(t);
  const bob = await addUser(folder, 'bob', '--scopes', 'store:read');
  const ada = await addUser(folder, 'ada', '--scope-set', 'administrator', '--admin');
  const { code, json } = await folder.run(['user', 'list', '--json']);
  t.equal(code, 0);
  const time = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/;
  t.match(json, [
    { id: ada, username: 'ada', scopes: [], scope_sets: ['administrator'], created: time, last_login: null },
    { id: bob, username: 'bob', scopes: ['store:read'], scope_sets: [], disabled: false },
  ]);
  const fields = [
    ...[
      'created',
      'disabled',
      'display_name',
      'effective_scopes',
      'email',
      'has_password',
      'id',
      'identities',
    ],
    ...['kind', 'last_login', 'managed', 'provider_scope_sets', 'provider_scopes', 'scope_sets', 'scopes'],
    ...['updated', 'username'],
  ];
  t.same(Object.keys(json[0]).sort(), fields);
  const lines = (await folder.run(['user', 'list'])).stdout.split('\n');
  t.match(lines, [/^USERNAME +KIND +STATE /, new RegExp(`^ada +person +enabled .* ${ada}$`), /^bob /, '']);
});

t.test('without users the list says how to make one', async (t) => {
  const folder = createCommandFolder(t);
  t.match(
    (await folder.run(['user', 'list', '--create'])).stdout,
    /^There are no users yet: postern user add NAME --admin/,
  );
  t.same((await folder.run(['user', 'list', '--json'])).json, []);
});

const refusedUsers = [
  {
    name: 'a name that is taken, before a password is asked for',
    args: ['ADA'],
    input: '',
    code: 1,
    says: /^postern: user "ADA" already exists\n$/,
  },
  {
    name: 'a short password',
    args: ['bob'],
    input: 'short\n',
    code: 1,
    says: /must have at least 12 characters\n$/,
  },
  {
    name: 'a common password',
    args: ['bob'],
    input: 'Password1234\n',
    code: 1,
    says: /^postern: the password must not be a common password\n$/,
  },
  {
    name: 'no password',
    args: ['bob'],
    input: '',
    code: 1,
    says: /^postern: no password on standard input: pipe it in as one line, or run the command on a terminal, /,
  },
  {
    name: 'a password that is no text',
    args: ['bob'],
    input: Buffer.alloc(20, 0xff),
    code: 1,
    says: /UTF-8\n$/,
  },
  {
    name: 'an endless password',
    args: ['bob'],
    input: 'x'.repeat(1_000_000),
    code: 1,
    says: /at most 1024 bytes\n$/,
  },
  {
    name: 'unknown scopes',
    args: ['bob', '--scopes', 'store:read a b'],
    code: 1,
    says: /catalogue of scopes: a b; the catalogue is apikeys:read .* users:write\n$/,
  },
  {
    name: 'an unknown scope set',
    args: ['bob', '--scope-set', 'a', '--scope-set', 'b'],
    code: 1,
    says: /set: a, b\n$/,
  },
  { name: 'an empty name', args: [' '], code: 2, says: /^postern: a user name must not be empty\nusage/ },
];

t.test('a user is refused', async (t) => {
  const folder = createCommandFolder(t);
  await addUser(folder, 'ada');
  for (const { name, args, input = `${password}\n`, code, says } of refusedUsers) {
    const result = await folder.run(['user', 'add', ...args], { input });
    t.equal(result.code, code, name);
    t.match(result.stderr, says, name);
    t.equal(result.stdout, '', name);
  }
  t.equal((await folder.run(['user', 'list', '--json'])).json.length, 1);
});

t.test('disabling, enabling and removing act on the very next request', async (t) => {
  const folder = createCommandFolder(t);
  const { run } = folder;
  const { api } = await folder.serve();
  await addUser(folder, 'root', '--admin');
  const ada = await addUser(folder, 'ada', '--scopes', 'store:read');
  const { accessToken, cookie } = await api.signIn('ada', password);
  const { stdout } = await run(['key', 'create', '--user', 'ada', '--label', 'ci', '--scopes', 'store:read']);
  const apiKey = stdout.trimEnd();
  t.equal((await api.send({ ...asset, bearer: accessToken })).status, 200);
  t.equal((await api.send({ ...asset, apiKey })).status, 200);

  const disabled = await run(['user', 'disable', 'ADA']);
  t.match(disabled, { code: 0, stdout: '' });
  t.match(disabled.audit, [
    { event: 'user_disabled', subject: ada },
    { event: 'session_revoked', actor: { kind: 'command_line' }, subject: ada, session: /./ },
  ]);
  t.equal((await api.send({ ...asset, bearer: accessToken })).status, 401);
  t.equal((await api.send({ ...asset, apiKey })).status, 401);
  t.equal((await api.refresh(cookie)).status, 401);
  t.match((await run(['key', 'list', '--json'])).json, [{ status: 'suspended' }]);

  const enabled = await run(['user', 'enable', 'ada', '--json']);
  t.match(enabled.json, { id: ada, disabled: false });
  t.match(enabled.audit, [{ event: 'user_enabled', subject: ada }]);
  t.equal((await api.send({ ...asset, apiKey })).status, 200, 'the key revives');
  t.equal((await api.send({ ...asset, bearer: accessToken })).status, 401, 'the session does not');

  const again = await api.signIn('ada', password);
  const removed = await run(['user', 'remove', 'ada']);
  t.match(removed.audit, [
    { event: 'user_removed', subject: ada },
    { event: 'api_key_deleted', subject: ada, key: /./ },
    { event: 'session_revoked', subject: ada },
  ]);
  t.equal((await api.send({ ...asset, apiKey })).status, 401);
  t.equal((await api.send({ ...asset, bearer: again.accessToken })).status, 401);
  t.same((await run(['key', 'list', '--json'])).json, []);
  t.match(await run(['user', 'remove', 'ada']), { code: 1, stderr: 'postern: there is no user "ada"\n' });
});

t.test('keys outlive their user when they are to be kept', async (t) => {
  const folder = createCommandFolder(t);
  const { run } = folder;
  const { api } = await folder.serve();
  const ada = await addUser(folder, 'ada');
  const { stdout } = await run(['key', 'create', '--user', 'ada', '--label', 'ci', '--scopes', 'store:read']);
  const removed = await run(['user', 'remove', 'ada', '--keep-keys']);
  t.match(removed.audit, [{ event: 'user_removed', subject: ada }]);
  t.equal(removed.audit.length, 1);
  t.equal((await api.send({ ...asset, apiKey: stdout.trimEnd() })).status, 200);
  t.match((await run(['key', 'list', '--json'])).json, [{ created_by: { id: ada, username: null } }]);
});

t.test('a new password ends the sessions at the running gateway', async (t) => {
  const folder = createCommandFolder(t);
  const { api } = await folder.serve();
  const ada = await addUser(folder, 'ada', '--scopes', 'store:read');
  const { accessToken } = await api.signIn('ada', password);
  const changed = await folder.run(['user', 'set-password', 'ada'], { input: `${otherPassword}\r\n` });
  t.match(changed, { code: 0, stdout: '' });
  t.match(changed.audit, [
    { event: 'password_changed', subject: ada },
    { event: 'session_revoked', subject: ada },
  ]);
  t.notMatch(changed.stderr, otherPassword);
  t.equal((await api.send({ ...asset, bearer: accessToken })).status, 401);
  await t.rejects(api.signIn('ada', password), /answered 401/);
  t.equal((await api.signIn('ada', otherPassword)).response.status, 200);
});

t.test('the last enabled administrator stays', async (t) => {
  const folder = createCommandFolder(t);
  await addUser(folder, 'root', '--admin');
  for (const command of ['disable', 'remove']) {
    const { code, stderr } = await folder.run(['user', command, 'root']);
    t.equal(code, 1);
    const cure = 'user add NAME --admin or user set NAME --admin makes another one';
    t.equal(stderr, `postern: "root" is the last enabled administrator, and stays: ${cure}\n`);
  }
  t.match((await folder.run(['user', 'list', '--json'])).json, [{ username: 'root', disabled: false }]);
});
