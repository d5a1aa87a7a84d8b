import { existsSync, lstatSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { PassThrough } from 'node:stream';
import t from 'tap';
import { parse } from 'yaml';
import { type CommandOptions, runPostern } from '../support/gateway/command.ts';
import type { TestScope } from '../support/gateway/gateway.ts';
import { makeTemporaryFolder } from '../support/temporary-folder.ts';

const env = { POSTERN_CONFIG: '' };

function emptyFolder(t: TestScope) {
  const cwd = makeTemporaryFolder('postern-init-');
  t.teardown(() => rmSync(cwd, { recursive: true, force: true }));
  const file = join(cwd, 'postern.yaml');
  return {
    cwd,
    file,
    run: (args: readonly string[], options: CommandOptions = {}) =>
      runPostern(args, { cwd, env, ...options }),
    read: () => readFileSync(file, 'utf8'),
    values: () => parse(readFileSync(file, 'utf8')),
  };
}

const written = [
  {
    name: 'this machine',
    args: [],
    has: {
      tenant: 'main',
      base_url: 'http://127.0.0.1:8080',
      listen: { host: '127.0.0.1', port: 8080 },
      scopes: { access: 'Use the service' },
      upstreams: { app: { url: 'http://localhost:9000' } },
      routes: [{ prefix: '/', upstream: 'app', scopes: ['access'], browser: true }],
      web: { title: 'My service', home: '/', console: { base_url: 'http://console.localhost:8080' } },
      endpoints: { users: 'own' },
    },
  },
  {
    name: 'another port',
    args: ['--listen', ':8181', '--tenant', 'acme', '--title', 'Acme: "stock" # 1'],
    has: {
      tenant: 'acme',
      base_url: 'http://127.0.0.1:8181',
      listen: { host: '127.0.0.1', port: 8181 },
      web: { title: 'Acme: "stock" # 1', console: { base_url: 'http://console.localhost:8181' } },
    },
  },
  {
    name: 'a proxy with a certificate',
    args: ['--base-url', 'https://stock.example.com'],
    has: {
      base_url: 'https://stock.example.com',
      listen: { host: '127.0.0.1', port: 8080 },
      trusted_proxies: ['127.0.0.1', '::1'],
      web: { console: undefined },
    },
  },
  {
    name: 'a console at a name of its own',
    args: ['--base-url', 'https://stock.example.com', '--console', 'https://console.example.com'],
    has: { web: { console: { base_url: 'https://console.example.com' } } },
  },
];

for (const { name, args, has } of written)
  t.test(`init for ${name} writes a file without a mistake`, async (t) => {
    const { run, read, values } = emptyFolder(t);
    const { code, stdout, stderr } = await run(['init', '--upstream', ':9000', ...args]);
    t.equal(code, 0);
    t.match(stdout, /^postern\.yaml is written\. Next:\n\n {2}postern serve {2,}start/);
    t.equal(stderr, '');
    t.match(await run(['check']), { code: 0, stdout: 'postern.yaml: no problems\n', stderr: '' });
    t.match(values(), has);
    const [, schema = ''] = /^# yaml-language-server: \$schema=(\S+)\n/.exec(read()) ?? [];
    t.match(
      JSON.parse(readFileSync(resolve(schema), 'utf8')),
      { properties: { base_url: {} } },
      'of an editor',
    );
  });

t.test('a console on base_url is a choice, of which check warns', async (t) => {
  const { run, values } = emptyFolder(t);
  const url = 'https://stock.example.com';
  const { code, stderr } = await run(['init', '--upstream', ':9000', '--base-url', url, '--console', url]);
  t.equal(code, 0);
  t.match(stderr, /^postern\.yaml:\d+:\d+: warning: web\.console: shares its origin with upstreams/);
  t.strictSame(values().web.console, {});
});

t.test('a proxy whose address no one knows is left to be named, of which check reminds', async (t) => {
  const { run, read, values } = emptyFolder(t);
  const args = ['--base-url', 'https://stock.example.com', '--listen', '0.0.0.0:8080'];
  const { code, stderr } = await run(['init', '--upstream', ':9000', ...args]);
  t.equal(code, 0);
  t.match(
    stderr,
    /^postern\.yaml:\d+:\d+: warning: base_url: is https, but listen has no tls: list the proxy/,
  );
  t.equal(values().trusted_proxies, undefined);
  t.match(read(), '\n# trusted_proxies: [10.0.0.1]\n');
});

t.test('a file is overwritten only with --force', async (t) => {
  const { run, read, file, cwd } = emptyFolder(t);
  await run(['init', '--upstream', ':9000', '--tenant', 'first']);
  const before = read();
  t.match(await run(['init', '--upstream', ':9001']), {
    code: 1,
    stderr: 'postern: postern.yaml is there already: --force overwrites it\n',
  });
  t.equal(read(), before);
  t.equal((await run(['init', '--upstream', ':9001', '--force'])).code, 0);
  t.match(read(), 'http://localhost:9001');

  const theirs = join(cwd, 'theirs');
  writeFileSync(theirs, 'theirs');
  rmSync(file);
  symlinkSync(theirs, file);
  t.equal((await run(['init', '--upstream', ':9001'])).code, 1);
  t.equal((await run(['init', '--upstream', ':9001', '--force'])).code, 0);
  t.equal(readFileSync(theirs, 'utf8'), 'theirs', 'a link is replaced');
  t.equal(lstatSync(file).mode & 0o777, 0o644);
});

const refused = [
  [[], /^postern: init needs --upstream ADDRESS, or a terminal to ask on\nusage: postern init /],
  [['--upstream', 'app'], /^postern: --upstream must be HOST:PORT, :PORT, /],
  [['--upstream', ':8080'], /^postern: --upstream is Postern's own address \(listen\)/],
  [
    ['--upstream', ':1', '--base-url', 'stock'],
    /^postern: --base-url must be an http:\/\/ or https:\/\/ URL\n/,
  ],
  [['--upstream', ':1', '--listen', 'here'], /^postern: --listen must be PORT or HOST:PORT/],
  [['--upstream', ':1', '--tenant', 'a b'], /^postern: --tenant must be 1 to 63 of /],
  [['--upstream', ':1', '--config', 'x.yaml'], /^postern: init writes \.\/postern\.yaml, without --config/],
] as const;

t.test('wrong options are refused, and nothing is written', async (t) => {
  const { run, file } = emptyFolder(t);
  for (const [args, stderr] of refused)
    t.match(await run(['init', ...args]), { code: 2, stdout: '', stderr }, args.join(' '));
  t.notOk(existsSync(file));
});

/** A person at a terminal, who types one line after each prompt. */
function typing(...lines: readonly string[]): PassThrough {
  const keyboard = new PassThrough();
  Object.assign(keyboard, { setRawMode: () => keyboard });
  let next = 0;
  keyboard.on('resume', () => {
    const timer = setInterval(() => {
      if (next < lines.length) keyboard.write(`${lines[next++]}\r`);
      else {
        clearInterval(timer);
        keyboard.write('\x04');
      }
    }, 20);
    keyboard.once('pause', () => clearInterval(timer));
  });
  return keyboard;
}

t.test('on a terminal it asks for what no option says, until a value can be used', async (t) => {
  const { run, values } = emptyFolder(t);
  const input = typing('localhost', ':9000', 'https://stock.example.com', '', 'none', 'Stock');
  const { code, stderr } = await run(['init', '--tenant', 'acme'], { input });
  t.equal(code, 0);
  t.match(stderr, /Service to protect, such as :9000: /);
  t.match(stderr, /\n {2}This must be HOST:PORT, :PORT, .*\n/);
  t.match(stderr, /Listen on, behind a proxy with the certificate \[127\.0\.0\.1:8080\]: /);
  t.notMatch(stderr, /Name of this instance/);
  t.match(values(), {
    tenant: 'acme',
    base_url: 'https://stock.example.com',
    listen: { host: '127.0.0.1', port: 8080 },
    upstreams: { app: { url: 'http://localhost:9000' } },
    web: { title: 'Stock' },
  });
});

t.test('lines that are pasted at once answer one question each', async (t) => {
  const { run, values } = emptyFolder(t);
  const input = new PassThrough();
  Object.assign(input, { setRawMode: () => input });
  input.write(':9000\rhttps://stock.example.com\r\rnone\racme\rStock\r');
  const { code, stderr } = await run(['init'], { input });
  t.equal(code, 0);
  t.match(values(), {
    tenant: 'acme',
    base_url: 'https://stock.example.com',
    listen: { host: '127.0.0.1', port: 8080 },
    upstreams: { app: { url: 'http://localhost:9000' } },
    web: { title: 'Stock' },
  });
  t.match(stderr, /^Name of this instance \[main\]: acme$/m, 'each beside its question');
});

t.test('lines that were pasted after a refused one answer nothing', async (t) => {
  const { run, file } = emptyFolder(t);
  const input = new PassThrough();
  Object.assign(input, { setRawMode: () => input });
  input.write(':9000\rnot a url\rhttps://stock.example.com\r\rnone\racme\rStock\r');
  const running = run(['init'], { input });
  await new Promise((resolve) => setTimeout(resolve, 500));
  input.write('\x04');
  t.match(await running, { code: 1, stderr: /postern: nothing was written\n$/ });
  t.notOk(existsSync(file));
});

t.test('Ctrl-D gives up', async (t) => {
  const { run, file } = emptyFolder(t);
  t.match(await run(['init'], { input: typing(':9000') }), {
    code: 1,
    stderr: /postern: nothing was written\n$/,
  });
  t.notOk(existsSync(file));
});
