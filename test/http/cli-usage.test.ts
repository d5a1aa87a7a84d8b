import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import t from 'tap';
import { createCommandFolder, runPostern } from '../support/command.ts';

const secret = 'hunter2-in-the-arguments';

const wrongUsages = [
  { name: 'no command', args: [], says: /^postern: no command\nusage: postern <command>/ },
  { name: 'an unknown command', args: ['frobnicate'], says: /^postern: no such command\nusage: / },
  { name: 'half a command', args: ['user'], says: /^postern: user needs .*\nusage: .*\n\n {2}user add NAME/ },
  {
    name: 'an unknown option',
    args: ['check', '--frobnicate'],
    says: /^postern: Unknown option '--frobnicate'\nusage: postern check/,
  },
  {
    name: 'an option of another command',
    args: ['user', 'list', '--admin'],
    says: /'--admin'\nusage: postern user list/,
  },
  {
    name: 'a missing name',
    args: ['user', 'add'],
    says: /^postern: user add takes NAME\nusage: postern user add NAME/,
  },
  { name: 'a password as an argument', args: ['user', 'set-password', 'ada', secret], says: /takes NAME\n/ },
  {
    name: 'a password as an option',
    args: ['user', 'add', 'ada', `--password=${secret}`],
    says: /'--password'\n/,
  },
  {
    name: 'an option twice',
    args: ['key', 'create', '--user', 'ada', '--user', 'bob'],
    says: /--user can be given once\n/,
  },
  {
    name: 'a missing option',
    args: ['key', 'create', '--user', 'ada', '--label', 'ci'],
    says: /key create needs --scopes\n/,
  },
  {
    name: 'an option without its value',
    args: ['key', 'create', '--user'],
    says: /'--user <value>' argument missing\n/,
  },
  { name: 'no configuration', args: ['user', 'list'], says: /--config FILE or set POSTERN_CONFIG\n/ },
];

for (const { name, args, says } of wrongUsages) {
  t.test(`${name} is wrong usage`, async (t) => {
    const { code, stdout, stderr } = await runPostern(args, { env: { POSTERN_CONFIG: '' } });
    t.equal(code, 2);
    t.equal(stdout, '');
    t.match(stderr, says);
    t.notMatch(stderr, secret, 'what may be a password is not repeated');
  });
}

t.test('help and version are results', async (t) => {
  const helps = [['--help'], ['-h'], ['user', '--help'], ['user', 'add', '--help'], ['key', 'create', '-h']];
  for (const args of helps) {
    const { code, stdout, stderr } = await runPostern(args);
    t.equal(code, 0, args.join(' '));
    t.match(stdout, /^usage: postern /);
    t.equal(stderr, '');
  }
  t.match((await runPostern(['--version'])).stdout, /^\d+\.\d+\.\d+\n$/);
});

t.test('check tells every problem at once, on standard error, with its place', async (t) => {
  const { run, configFile } = createCommandFolder(t, { tenant: 'not a tenant', frobnicate: 1 });
  const lines = (await run(['check'])).stderr.trimEnd().split('\n');
  t.match(lines, [/:1:9: tenant: .* \(not a tenant\)$/, /:\d+:\d+: frobnicate: /]);
  t.ok(lines.every((line) => line.startsWith(`${configFile}:`)));

  const result = await run(['check', '--json']);
  t.equal(result.code, 2);
  t.match(result.json, [
    { file: configFile, line: 1, column: 9, key: 'tenant', value: 'not a tenant' },
    { key: 'frobnicate' },
  ]);
  t.equal((await run(['serve'])).code, 2);
  t.equal((await run(['user', 'list'])).stderr.trimEnd().split('\n').length, 2);
});

t.test('check of a good configuration has no problems', async (t) => {
  const { run, configFile } = createCommandFolder(t);
  t.match(await run(['check']), { code: 0, stdout: `${configFile}: no problems\n`, stderr: '' });
  t.same((await run(['check', '--json'])).json, []);
});

t.test('the configuration may be named by the environment', async (t) => {
  const { configFile } = createCommandFolder(t);
  t.equal((await runPostern(['check'], { env: { POSTERN_CONFIG: configFile } })).code, 0);
});

t.test('a store that can not be opened is one sentence', async (t) => {
  const { run, folder } = createCommandFolder(t);
  writeFileSync(join(folder, 'records.db'), 'this is no database, and long enough to be told from one');
  const { code, stderr } = await run(['user', 'list']);
  t.equal(code, 1);
  t.match(stderr, /^postern: \S*records\.db: is corrupt or not an SQLite database\n$/);

  const located =
    /^\S*postern\.yaml:\d+:\d+: stores\.records: \S*records\.db is corrupt or not an SQLite database\n$/;
  for (const args of [['serve'], ['check']]) t.match(await run(args), { code: 2, stderr: located });
});

t.test('openapi prints the document without a configuration', async (t) => {
  const result = await runPostern(['openapi'], { env: { POSTERN_CONFIG: '' } });
  t.equal(result.code, 0);
  t.match(result.json, { openapi: /^3\.1/, paths: { '/api/login/access-token': { post: {} } } });
});

t.test('backup copies the records to a file that opens as records', async (t) => {
  const { run, folder } = createCommandFolder(t);
  await run(['user', 'add', 'ada', '--admin'], { input: 'correct horse battery staple\n' });
  const file = join(folder, 'copy.db');
  t.match(await run(['backup', file]), { code: 0, stdout: '', stderr: '' });

  const copy = createCommandFolder(t, {
    stores: { records: `sqlite:${file}`, sessions: 'sqlite:sessions.db' },
  });
  t.match((await copy.run(['user', 'list', '--json'])).json, [{ username: 'ada' }]);

  const again = await run(['backup', file]);
  t.equal(again.code, 1);
  t.equal(again.stderr, `postern: ${file} can't be written: there is a file of that name\n`);
  mkdirSync(join(folder, 'empty'));
  t.match(await run(['backup', join(folder, 'empty/none/copy.db')]), { code: 1, stderr: /ENOENT/ });
});
