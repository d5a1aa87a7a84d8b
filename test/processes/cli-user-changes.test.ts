import { PassThrough } from 'node:stream';
import t from 'tap';
import { type CommandFolder, createCommandFolder } from '../support/gateway/command.ts';

const password = 'correct horse battery staple';
const asset = { path: '/api/store/asset/1' };

async function addUser({ run }: CommandFolder, name: string, ...options: string[]): Promise<string> {
  const { code, stdout, stderr } = await run(['user', 'add', name, ...options], { input: `${password}\n` });
  if (code !== 0) throw new Error(stderr);
  return stdout.trimEnd();
}

t.test('a user is shown with what the user holds', async (t) => {
  const folder = createCommandFolder(t);
  await addUser(folder, 'ada', '--scopes', 'store:read', '--display-name', 'Ada');
  await folder.run(['scope-set', 'add', 'writers', '--scopes', 'store:write']);
  await folder.run(['user', 'set', 'ada', '--scope-set', 'writers']);
  const { stdout } = await folder.run(['user', 'show', 'ADA']);
  t.match(
    stdout,
    /^ID +\S+\nUsername +ada\nDisplay name +Ada\nE-mail +–\nKind +person\nState +enabled\nSigns in by +password\n/,
  );
  t.match(stdout, /\nScope sets +writers\nScopes +store:read\n/);
  t.match(
    stdout,
    /\nHolds in all +store:read store:write\nAPI keys +0\nCreated +\d{4}-\d\d-\d\d \d\d:\d\d:\d\dZ\n/,
  );
  t.match((await folder.run(['user', 'show', 'ada', '--json'])).json, {
    username: 'ada',
    scope_sets: ['writers'],
    effective_scopes: ['store:read', 'store:write'],
    has_password: true,
  });
  t.match(await folder.run(['user', 'show', 'bob']), {
    code: 1,
    stderr: 'postern: there is no user "bob"\n',
  });
});

t.test('`user set` replaces the named fields, and the running gateway follows', async (t) => {
  const folder = createCommandFolder(t);
  const { api } = await folder.serve();
  const ada = await addUser(folder, 'ada', '--scopes', 'store:read', '--email', 'ada@example.com');
  await folder.run(['scope-set', 'add', 'writers', '--scopes', 'store:write']);
  const { accessToken: bearer } = await api.signIn('ada', password);
  const scopes = async () => {
    const { json } = await api.send({ path: '/api/else', bearer });
    return new Map(json.headers).get('X-Auth-Scopes');
  };
  t.equal(await scopes(), 'store:read');
  const set = await folder.run([
    'user',
    'set',
    'ada',
    '--scope-set',
    'writers',
    '--display-name',
    ' Ada L. ',
  ]);
  t.match(set, { code: 0, stdout: '' });
  const two = await folder.run(['user', 'set', 'ada', '--email', 'a@b.example, evil@example.com']);
  t.match(two, {
    code: 2,
    stderr: /^postern: --email must be one e-mail address of at most 254 characters\n/,
  });
  t.match(set.audit, [
    {
      event: 'user_changed',
      subject: ada,
      id: /./,
      changes: { fields: ['display_name'], scope_sets: { added: [/./] } },
    },
  ]);
  const cleared = await folder.run([
    'user',
    'set',
    'ada',
    '--scope-set',
    '',
    '--scopes',
    '',
    '--email',
    '',
    '--json',
  ]);
  t.match(cleared.json, { scopes: [], scope_sets: [], email: null, display_name: 'Ada L.' });
  t.equal(await scopes(), '', 'with the next request');
  t.match(await folder.run(['user', 'set', 'ada']), {
    code: 2,
    stderr: /^postern: user set needs --scopes, /,
  });
  t.match(await folder.run(['user', 'set', 'ada', '--scopes', 'store:raed']), {
    code: 1,
    stderr: /did you mean "store:read"/,
  });
});

t.test('a service has no password, and its key works', async (t) => {
  const folder = createCommandFolder(t);
  const { api } = await folder.serve();
  const made = await folder.run(['user', 'add', 'ci', '--service', '--scopes', 'store:read', '--json']);
  t.match(made.json, { kind: 'service', has_password: false });
  t.match((await folder.run(['user', 'list'])).stdout, /^ci +service +enabled /m);
  const { stdout } = await folder.run([
    'key',
    'create',
    '--user',
    'ci',
    '--label',
    'a',
    '--scopes',
    'store:read',
  ]);
  t.equal((await api.send({ ...asset, apiKey: stdout.trimEnd() })).status, 200);
  t.match(await folder.run(['user', 'set-password', 'ci'], { input: `${password}\n` }), {
    code: 1,
    stderr: 'postern: "ci" is a service, which has no password\n',
  });
  const person = await folder.run(['user', 'add', 'bob', '--without-password', '--json']);
  t.match(person.json, { kind: 'person', has_password: false });
});

t.test('the keys of a user who is removed can be given to another', async (t) => {
  const folder = createCommandFolder(t);
  const { api } = await folder.serve();
  await addUser(folder, 'ada', '--scopes', 'store:read');
  const bob = await addUser(folder, 'bob', '--scopes', 'store:read');
  const { stdout } = await folder.run([
    'key',
    'create',
    '--user',
    'ada',
    '--label',
    'a',
    '--scopes',
    'store:read',
  ]);
  for (const [name, says] of [
    ['ada', /must name another user/],
    ['eve', /no user "eve"/],
  ] as const)
    t.match(await folder.run(['user', 'remove', 'ada', '--transfer-keys', name]), { code: 1, stderr: says });
  t.match(await folder.run(['user', 'remove', 'ada', '--transfer-keys', 'bob', '--keep-keys']), { code: 2 });
  const removed = await folder.run(['user', 'remove', 'ada', '--transfer-keys', 'bob']);
  t.match(removed.audit, [{ event: 'user_removed' }, { event: 'api_key_transferred' }]);
  const { json } = await api.send({ ...asset, apiKey: stdout.trimEnd() });
  t.equal(new Map(json.headers).get('X-Auth-Subject'), bob);
});

t.test('user set --admin grants every scope, beside what the user holds', async (t) => {
  const folder = createCommandFolder(t);
  await addUser(folder, 'ada');
  await folder.run(['scope-set', 'add', 'writers', '--scopes', 'store:write']);
  await folder.run(['user', 'set', 'ada', '--scope-set', 'writers']);
  t.match(await folder.run(['user', 'set', 'ada', '--admin', '--json']), {
    code: 0,
    json: { scope_sets: ['administrator', 'writers'] },
  });
  t.match(await folder.run(['user', 'set', 'ada', '--admin', '--scope-set', '', '--json']), {
    json: { scope_sets: ['administrator'] },
  });
  t.match(await folder.run(['user', 'set', 'ada']), {
    code: 2,
    stderr: /, --admin, --display-name or --email\n/,
  });
});

t.test('an invitation is the address of a page where there are pages', async (t) => {
  const base_url = 'https://acme.example.com';
  const folder = createCommandFolder(t, { base_url, web: { path: '/pages' } });
  await folder.run(['user', 'add', 'grace', '--without-password', '--create']);
  const { stdout, stderr } = await folder.run(['user', 'invite', 'grace']);
  t.match(stdout, /^https:\/\/acme\.example\.com\/pages\/invitation#token=\S{20,}\n$/);
  t.match(stderr, /^postern: until \S+ \S+ "grace" sets a password there$/m);
  const { json } = await folder.run(['user', 'invite', 'grace', '--json']);
  t.equal(json.url, `${base_url}/pages/invitation#token=${json.token}`);
});

t.test('without pages an invitation is a token for the API, wherever that is', async (t) => {
  const folder = createCommandFolder(t, { api_path: '/gate/api' });
  await folder.run(['user', 'add', 'grace', '--without-password', '--create']);
  const { stderr } = await folder.run(['user', 'invite', 'grace']);
  t.match(stderr, ' "grace" sets a password: POST /gate/api/login/invitation {"token","password"}\n');
});

t.test('on a terminal a sentence stands for the audit lines', async (t) => {
  const folder = createCommandFolder(t);
  await addUser(folder, 'ada', '--scopes', 'store:read');
  const minting = ['key', 'create', '--user', 'ada', '--label', 'ci', '--scopes', 'store:read'];
  const atTerminal = (args: readonly string[]) => folder.run(args, { input: new PassThrough() });
  t.match(await atTerminal(minting), {
    code: 0,
    stdout: /^pst_\w+\n$/,
    stderr: 'postern: key "ci" of "ada" is created, and not shown again\n',
  });
  t.match((await folder.run(minting)).audit, [{ event: 'api_key_created' }], 'on a pipe they are written');
  t.match(await atTerminal([...minting, '--json']), { stderr: /api_key_created/ });
  t.match(await atTerminal(['user', 'disable', 'ada']), {
    code: 0,
    stdout: '',
    stderr: 'postern: "ada" is disabled: all sessions have ended, and API keys are suspended\n',
  });
});
