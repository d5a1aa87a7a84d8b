import { execFile } from 'node:child_process';
import { readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { promisify } from 'node:util';
import t from 'tap';
import { createCommandFolder, runPostern } from '../support/gateway/command.ts';
import { makeTemporaryFolder } from '../support/temporary-folder.ts';

const root = join(import.meta.dirname, '../..');
const secret = 'hunter2-in-the-arguments';

const wrongUsages = [
  { name: 'no command', args: [], says: /^postern: no command\nusage: postern <command>.*\n\n {2}serve /s },
  {
    name: 'an unknown command',
    args: ['frobnicate'],
    says: /^postern: no such command "frobnicate"\npostern help lists all commands\n$/,
  },
  {
    name: 'a misspelt command',
    args: ['chekc'],
    says: /^postern: no such command "chekc": did you mean "check"\?\npostern help lists all commands\n$/,
  },
  {
    name: 'a misspelt command of two words',
    args: ['users', 'list', secret],
    says: /^postern: no such command "users list": did you mean "user list"\?\n/,
  },
  {
    name: 'a misspelt second word',
    args: ['key', 'craete'],
    says: /^postern: no such command "key craete": did you mean "key create"\?\nusage: .*\n\n {2}key create /,
  },
  {
    name: 'help for an unknown command',
    args: ['help', 'serv'],
    says: /^postern: no such command "serv": did you mean "serve"\?\n/,
  },
  {
    name: 'an option in place of a command',
    args: ['--json', 'check'],
    says: /^postern: the command comes first/,
  },
  {
    name: 'half a command',
    args: ['user'],
    says: /^postern: user needs a subcommand\nusage: .*\n\n {2}user add NAME/,
  },
  {
    name: 'a subcommand that is none',
    args: ['user', secret],
    says: /^postern: user has no such subcommand\nusage: .*\n\n {2}user add NAME/,
  },
  {
    name: 'an unknown option',
    args: ['check', '--frobnicate'],
    says: /^postern: Unknown option '--frobnicate'\nusage: postern check/,
  },
  {
    name: 'a misspelt option',
    args: ['check', '--cofnig', 'x'],
    says: /^postern: Unknown option '--cofnig': did you mean "--config"\?\nusage: postern check/,
  },
  {
    name: 'an option by the name that other programs give it',
    args: ['serve', '--upstream', ':9000', '--port', '8181'],
    says: /^postern: Unknown option '--port': did you mean "--listen"\?\nusage: postern serve/,
  },
  {
    name: 'the configuration as an argument',
    args: ['check', 'postern.yaml'],
    says: /^postern: check takes no arguments: name the configuration with --config\nusage: postern check/,
  },
  {
    name: 'an upstream that is no address',
    args: ['serve', '--upstream', 'localhost'],
    says: /^postern: --upstream must be HOST:PORT, :PORT, .*\nusage: postern serve .*--upstream ADDRESS/,
  },
  {
    name: 'an upstream beside a configuration',
    args: ['serve', '--upstream', 'http://127.0.0.1:1', '--config', 'postern.yaml'],
    says: /^postern: --upstream and --config exclude each other: a trial has no file; "postern init" writes one\n/,
  },
  {
    name: 'an upstream beside the quick start',
    args: ['serve', '--quickstart', '--upstream', ':1'],
    says: /^postern: --upstream and --quickstart exclude each other: a trial prints where to begin anyway\n/,
  },
  {
    name: "an upstream that is Postern's own address",
    args: ['serve', '--upstream', ':8080'],
    says: /^postern: --upstream is Postern's own address .*; --listen \[HOST:\]PORT has Postern listen elsewhere\n/,
  },
  {
    name: 'a malformed address to listen on',
    args: ['serve', '--upstream', ':1', '--listen', '::'],
    says: /^postern: --listen must be PORT or HOST:PORT/,
  },
  {
    name: 'an address to listen on beside a configuration',
    args: ['serve', '--listen', ':8080'],
    says: /^postern: --listen goes with --upstream: a configuration has the key listen\n/,
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
    says: /--user may be given only once\n/,
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
  {
    name: 'no configuration',
    args: ['user', 'list'],
    says: /--config FILE, set POSTERN_CONFIG, or write \.\/postern\.yaml with postern init\n/,
  },
];

const emptyFolder = makeTemporaryFolder('postern-usage-');
t.teardown(() => rmSync(emptyFolder, { recursive: true, force: true }));

for (const { name, args, says } of wrongUsages) {
  t.test(`${name} is wrong usage`, async (t) => {
    const { code, stdout, stderr } = await runPostern(args, {
      env: { POSTERN_CONFIG: '' },
      cwd: emptyFolder,
    });
    t.equal(code, 2);
    t.equal(stdout, '');
    t.match(stderr, says);
    t.notMatch(stderr, secret, 'what may be a password is not repeated');
  });
}

t.test('help and version are results', async (t) => {
  const helps = [
    ['help'],
    ['--help'],
    ['-h'],
    ['user', '--help'],
    ['help', 'user'],
    ['user', 'add', '--help'],
    ['help', 'user', 'add'],
    ['key', 'create', '-h'],
  ];
  for (const args of helps) {
    const { code, stdout, stderr } = await runPostern(args);
    t.equal(code, 0, args.join(' '));
    t.match(stdout, /^usage: postern /);
    t.equal(stderr, '');
  }
  for (const word of ['version', '--version', '-v', '-V'])
    t.match((await runPostern([word])).stdout, /^\d+\.\d+\.\d+\n$/);
  const overview = (await runPostern(['help'])).stdout.split('\n');
  t.ok(
    overview.every((line) => line.length <= 80),
    'it fits a terminal',
  );
});

t.test('the bin runs the same program', async (t) => {
  const { bin } = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8'));
  const { stdout } = await promisify(execFile)(join(root, bin.postern), ['version']);
  t.match(stdout, /^\d+\.\d+\.\d+\n$/);
  t.notMatch(
    readFileSync(join(root, bin.postern), 'utf8'),
    /^import .*\.ts'/m,
    'no TypeScript before the version',
  );
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

t.test('check says of each upstream with assertions which verifiers its services need', async (t) => {
  const { run, configFile } = createCommandFolder(t, {
    upstreams: {
      app: { url: 'http://127.0.0.1:9', assertion: {} },
      plain: { url: 'http://127.0.0.1:9' },
      other: { url: 'http://127.0.0.1:9', assertion: { algorithm: 'ES256' } },
    },
  });
  const { code, stdout, stderr } = await run(['check']);
  t.match({ code, stderr }, { code: 0, stderr: '' });
  const lines = stdout.trimEnd().split('\n');
  t.equal(lines.pop(), `${configFile}: no problems`);
  t.equal(lines.length, 2);
  for (const [index, name] of ['app', 'other'].entries()) {
    t.ok(lines[index]!.startsWith(`${configFile}:`), name);
    t.match(
      lines[index],
      new RegExp(`:\\d+:\\d+: note: upstreams\\.${name}\\.assertion: .*X-Auth-Client-Id.* verifiers`),
    );
  }
  t.match((await run(['check', '--json'])).json, [
    { severity: 'note', file: configFile, key: 'upstreams.app.assertion' },
    { severity: 'note', key: 'upstreams.other.assertion' },
  ]);
});

t.test('the configuration may be named by the environment', async (t) => {
  const { configFile } = createCommandFolder(t);
  t.equal((await runPostern(['check'], { env: { POSTERN_CONFIG: configFile } })).code, 0);
});

t.test('a store that can not be opened is one sentence', async (t) => {
  const { run, folder } = createCommandFolder(t);
  writeFileSync(join(folder, 'records.db'), 'this is no database, and long enough to be told from one');
  const { code, stderr } = await run(['user', 'list', '--create']);
  t.equal(code, 1);
  t.match(stderr, /^postern: \S*records\.db: is corrupt or not an SQLite database\n$/);

  const located =
    /^\S*postern\.yaml:\d+:\d+: stores\.records: \S*records\.db is corrupt or not an SQLite database\n$/;
  for (const args of [['serve'], ['check']]) t.match(await run(args), { code: 2, stderr: located });
});

t.test('openapi prints the paths of the configuration', async (t) => {
  const folder = createCommandFolder(t, { api_path: '/gate/api' });
  const named = await folder.run(['openapi']);
  t.match(named, { code: 0, stderr: '', json: { paths: { '/gate/api/login/access-token': { post: {} } } } });
  const found = await runPostern(['openapi'], { cwd: folder.folder, env: { POSTERN_CONFIG: '' } });
  t.equal(found.stdout, named.stdout);
  writeFileSync(folder.configFile, 'api_path: /gate/api\ntenant: { env: POSTERN_NOT_SET }\n');
  t.match(await folder.run(['openapi']), { code: 2, stdout: '', stderr: /tenant: / });
  const unusable = await runPostern(['openapi'], { cwd: folder.folder, env: { POSTERN_CONFIG: '' } });
  t.match(unusable, { code: 0, json: { paths: { '/api/login/access-token': { post: {} } } } });
  t.equal(
    unusable.stderr,
    'postern: postern.yaml has problems (postern check): the paths below are those of api_path: /api\n',
  );
});

t.test('openapi prints the document without a configuration', async (t) => {
  const result = await runPostern(['openapi'], { env: { POSTERN_CONFIG: '' } });
  t.equal(result.code, 0);
  t.match(result.json, { openapi: /^3\.1/, paths: { '/api/login/access-token': { post: {} } } });
});
