import t from 'tap';
import { eventually } from '../support/eventually.ts';
import { type CommandFolder, createCommandFolder } from '../support/gateway/command.ts';

const input = 'correct horse battery staple\n';
const asset = { path: '/api/store/asset/1' };

function createKey({ run }: CommandFolder, ...options: string[]) {
  return run(['key', 'create', '--user', 'ada', '--label', 'ci', '--scopes', 'store:read', ...options]);
}

t.test('a key made on the command line works at the running gateway until it is revoked', async (t) => {
  const folder = createCommandFolder(t);
  const { api } = await folder.serve();
  const ada = (
    await folder.run(['user', 'add', 'ada', '--scopes', 'store:read'], { input })
  ).stdout.trimEnd();
  const created = await createKey(folder);
  t.equal(created.code, 0);
  t.match(created.stdout, /^pst_[0-9A-Za-z]{36}\n$/, 'alone on standard output');
  const apiKey = created.stdout.trimEnd();
  t.notMatch(created.stderr, apiKey);
  t.notMatch(created.stderr, /does not hold/);
  const { json: echoed, status } = await api.send({ ...asset, apiKey });
  t.equal(status, 200);
  const headers = new Map(echoed.headers);
  const id = headers.get('X-Auth-Key-Id') as string;
  t.equal(headers.get('X-Auth-Subject'), ada);
  t.equal(headers.get('X-Auth-Scopes'), 'store:read');
  t.match(created.audit, [
    { event: 'api_key_created', outcome: 'success', actor: { kind: 'command_line' }, subject: ada, key: id },
  ]);

  const revoked = await folder.run(['key', 'revoke', id]);
  t.match(revoked, { code: 0, stdout: '' });
  t.match(revoked.audit, [{ event: 'api_key_deleted', subject: ada, key: id }]);
  t.equal((await api.send({ ...asset, apiKey })).status, 401);
  t.match(await folder.run(['key', 'revoke', id]), {
    code: 1,
    stderr: `postern: no key with id "${id}": key list shows the ids\n`,
  });
});

t.test('a key is told to be of no use as far as its user does not hold its scopes', async (t) => {
  const folder = createCommandFolder(t);
  const { api } = await folder.serve();
  await folder.run(['user', 'add', 'ada', '--scopes', 'store:write'], { input });
  const options = ['--user', 'ada', '--label', 'ci', '--scopes', 'store:read store:write'];
  const created = await folder.run(['key', 'create', ...options]);
  t.match(created, { code: 0, stderr: /^postern: "ada" does not hold store:read: /m });
  const { json } = await api.send({ path: '/api/else', apiKey: created.stdout.trimEnd() });
  t.equal(new Map(json.headers).get('X-Auth-Scopes'), 'store:write');
});

t.test('the running gateway logs the acts of commands, each once', async (t) => {
  const folder = createCommandFolder(t);
  const { printed } = await folder.serve();
  const second = await folder.serve();
  const ada = (
    await folder.run(['user', 'add', 'ada', '--scopes', 'store:read'], { input })
  ).stdout.trimEnd();
  const created = await createKey(folder, '--json');
  await folder.run(['user', 'disable', 'ada']);
  const lines = () =>
    [printed(), second.printed()]
      .flatMap(({ stdout }) => stdout.split('\n'))
      .filter((line) => line.includes('"audit":true'))
      .map((line) => JSON.parse(line));
  await eventually('all three are told', () => lines().length >= 3);
  const actor = { user: null, kind: 'command_line' };
  t.match(
    lines().toSorted((one, other) => (one.time < other.time ? -1 : 1)),
    [
      { event: 'user_created', outcome: 'success', actor, subject: ada },
      { event: 'api_key_created', actor, subject: ada, key: created.json.id, time: created.audit[0]!.time },
      { event: 'user_disabled', actor, subject: ada },
    ],
  );
  t.equal(lines().length, 3);
});

t.test('revoking with children takes all that were minted with it', async (t) => {
  const folder = createCommandFolder(t);
  const { api } = await folder.serve();
  await folder.run(['user', 'add', 'ada', '--scopes', 'apikeys:write store:read'], { input });
  const { accessToken: bearer } = await api.signIn('ada', input.trimEnd());
  const scopes = ['apikeys:write', 'store:read'];
  const mint = async (by: object) =>
    (await api.send({ method: 'POST', path: '/api/admin/api-keys/', json: { label: 'k', scopes }, ...by }))
      .json;
  const parent = await mint({ bearer });
  const child = await mint({ apiKey: parent.key });
  const grandchild = await mint({ apiKey: child.key });
  t.equal((await folder.run(['key', 'revoke', child.id])).code, 0);
  t.equal((await api.send({ ...asset, apiKey: grandchild.key })).status, 200);
  const revoked = await folder.run(['key', 'revoke', parent.id, '--children', '--json']);
  t.same(revoked.json.toSorted(), [parent.id, grandchild.id].sort());
  t.match(
    revoked.audit.map(({ event, key, subject }) => [event, key, subject]).sort(),
    [parent.id, grandchild.id].sort().map((id) => ['api_key_deleted', id, parent.created_by.id]),
  );
  for (const { key: apiKey } of [parent, grandchild])
    t.equal((await api.send({ ...asset, apiKey })).status, 401);
  t.equal((await folder.run(['key', 'revoke', parent.id, '--children'])).code, 1);
});

t.test('a key can have a scope set, which its user has to hold', async (t) => {
  const folder = createCommandFolder(t);
  const { api } = await folder.serve();
  await folder.run(['user', 'add', 'ada', '--admin'], { input });
  await folder.run(['user', 'add', 'bob'], { input });
  const create = (user: string) =>
    folder.run([
      'key',
      'create',
      '--user',
      user,
      '--label',
      'a',
      '--scopes',
      '',
      '--scope-set',
      'administrator',
    ]);
  const [ofAda, ofBob] = [await create('ada'), await create('bob')];
  t.equal((await api.send({ ...asset, apiKey: ofAda.stdout.trimEnd() })).status, 200);
  t.match(ofBob.stderr, /"bob" does not hold apikeys:read apikeys:write /);
  t.equal((await api.send({ ...asset, apiKey: ofBob.stdout.trimEnd() })).status, 403);
  t.match(
    await folder.run(['key', 'create', '--user', 'ada', '--label', 'a', '--scopes', '', '--scope-set', 'no']),
    {
      code: 1,
      stderr: /no such scope set: no\n$/,
    },
  );
});

t.test('as JSON a key has the fields of the HTTP API, and is shown once', async (t) => {
  const folder = createCommandFolder(t);
  const ada = (await folder.run(['user', 'add', 'ada'], { input })).stdout.trimEnd();
  const created = await createKey(folder, '--json', '--expires', '2199-01-01T00:00:00+01:00');
  const { key, ...read } = created.json;
  t.match(key, /^pst_/);
  t.match(read, {
    label: 'ci',
    hint: key.slice(0, 8),
    scopes: ['store:read'],
    scope_sets: [],
    created_by: { id: ada, username: 'ada' },
    parent: null,
    expires: '2198-12-31T23:00:00.000Z',
    last_used: null,
    status: 'active',
  });
  const listed = await folder.run(['key', 'list', '--json']);
  t.same(listed.json, [read]);
  const lines = (await folder.run(['key', 'list'])).stdout.split('\n');
  t.match(lines, [
    /^ID +LABEL +USER +STATUS /,
    new RegExp(`^${read.id} +ci +ada +active .* ${read.hint}… `),
    '',
  ]);
});

t.test('more keys than a page holds are listed', async (t) => {
  const folder = createCommandFolder(t);
  const { api } = await folder.serve();
  await folder.run(['user', 'add', 'ada', '--admin'], { input });
  const { accessToken } = await api.signIn('ada', input.trimEnd());
  const body = { label: 'one of many', scopes: ['store:read'] };
  for (let made = 0; made < 101; made++) await api.mintKey(accessToken, body);
  const { json } = await folder.run(['key', 'list', '--json']);
  t.equal(new Set(json.map(({ id }: { id: string }) => id)).size, 101);
  const removed = await folder.run(['user', 'add', 'bob', '--admin'], { input });
  t.equal(removed.code, 0);
  const { audit } = await folder.run(['user', 'remove', 'ada']);
  t.equal(audit.filter(({ event }) => event === 'api_key_deleted').length, 101);
});

const refusedKeys = [
  {
    name: 'an unknown user',
    args: ['--user', 'bob', '--label', 'ci', '--scopes', 'store:read'],
    code: 1,
    says: /no user "bob"\n$/,
  },
  {
    name: 'unknown scopes',
    args: ['--user', 'ada', '--label', 'ci', '--scopes', 'store:read what'],
    code: 1,
    says: /catalogue of scopes: what; the catalogue is apikeys:read .* users:write\n$/,
  },
  {
    name: 'no scopes',
    args: ['--user', 'ada', '--label', 'ci', '--scopes', ' '],
    code: 2,
    says: /^postern: --scopes: .*\nusage/,
  },
  {
    name: 'an empty label',
    args: ['--user', 'ada', '--label', ' ', '--scopes', 'store:read'],
    code: 2,
    says: /^postern: --label: .*\nusage/,
  },
  {
    name: 'a time without offset',
    args: ['--user', 'ada', '--label', 'ci', '--scopes', 'store:read', '--expires', '2199-01-01T00:00:00'],
    code: 2,
    says: /^postern: --expires must say which time zone it means: 2199-01-01T00:00:00Z is in UTC\n/,
  },
  {
    name: 'a time in the past',
    args: ['--user', 'ada', '--label', 'ci', '--scopes', 'store:read', '--expires', '2001-01-01T00:00:00Z'],
    code: 2,
    says: /^postern: --expires must be in the future, or a duration from now such as 30d\n/,
  },
  {
    name: 'a date without time',
    args: ['--user', 'ada', '--label', 'ci', '--scopes', 'store:read', '--expires', '2199-01-01'],
    code: 2,
    says: /^postern: --expires must say which time zone it means: 2199-01-01T00:00:00Z is in UTC\n/,
  },
  {
    name: 'a date in the past',
    args: ['--user', 'ada', '--label', 'ci', '--scopes', 'store:read', '--expires', '2020-01-01'],
    code: 2,
    says: /^postern: --expires must be in the future/,
  },
  {
    name: 'a day that no calendar has',
    args: ['--user', 'ada', '--label', 'ci', '--scopes', 'store:read', '--expires', '2199-13-01'],
    code: 2,
    says: /^postern: --expires names no day: "2199-13-01"\n/,
  },
  {
    name: 'a duration in a unit that is none',
    args: ['--user', 'ada', '--label', 'ci', '--scopes', 'store:read', '--expires', '10parsecs'],
    code: 2,
    says: /^postern: --expires must be a duration such as 12h or 30d \(s, m, h, d\), or an instant such as 2030-12-31T/,
  },
  {
    name: 'a user who is disabled',
    args: ['--user', 'eve', '--label', 'ci', '--scopes', 'store:read'],
    code: 1,
    says: /"eve" is disabled/,
  },
];

t.test('a key is refused', async (t) => {
  const folder = createCommandFolder(t);
  await folder.run(['user', 'add', 'ada'], { input });
  await folder.run(['user', 'add', 'eve'], { input });
  await folder.run(['user', 'disable', 'eve']);
  for (const { name, args, code, says } of refusedKeys) {
    const result = await folder.run(['key', 'create', ...args]);
    t.equal(result.code, code, name);
    t.match(result.stderr, says, name);
    t.equal(result.stdout, '', name);
  }
  t.same((await folder.run(['key', 'list', '--json'])).json, []);
});

t.test('no key outlives api_keys.max_lifetime', async (t) => {
  const folder = createCommandFolder(t, { api_keys: { max_lifetime: '1d' } });
  await folder.run(['user', 'add', 'ada'], { input });
  const { created, expires } = (await createKey(folder, '--json')).json;
  const lifetime = Date.parse(expires) - Date.parse(created);
  t.ok(Math.abs(lifetime - 86_400_000) < 1_000);
  t.match(await createKey(folder, '--expires', '2199-01-01T00:00:00Z'), { code: 2, stderr: /--expires: / });
  const short = (await createKey(folder, '--json', '--expires', '1h')).json;
  t.ok(
    Math.abs(Date.parse(short.expires) - Date.parse(short.created) - 3_600_000) < 60_000,
    'a duration counts from now',
  );
});
