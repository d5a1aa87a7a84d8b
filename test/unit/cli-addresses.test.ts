import { spawnSync } from 'node:child_process';
import { mkdirSync, rmSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:net';
import { join } from 'node:path';
import t from 'tap';
import {
  freePort,
  originOf,
  parseListenAddress,
  parseServiceAddress,
  usedPort,
} from '../../src/cli/setup/addresses.ts';
import { commandIn } from '../../src/cli/setup/installation.ts';
import { titleOf } from '../../src/cli/setup/trial.ts';
import { makeTemporaryFolder } from '../support/temporary-folder.ts';

const services = [
  [':9000', 'http://localhost:9000'],
  ['9000', 'http://localhost:9000'],
  ['localhost:9000', 'http://localhost:9000'],
  ['app.internal:80', 'http://app.internal:80'],
  ['[::1]:9000', 'http://[::1]:9000'],
  ['http://127.0.0.1:9000', 'http://127.0.0.1:9000'],
  ['http://127.0.0.1:9000/', 'http://127.0.0.1:9000'],
  ['https://app.example.com', 'https://app.example.com'],
  ['unix:app.sock', 'unix:/srv/app.sock'],
  ['unix:/run/app.sock', 'unix:/run/app.sock'],
  ['builtin:echo', 'builtin:echo'],
] as const;

t.test('pages are called by the address of the service only if it tells people something', async (t) => {
  for (const [upstream, title] of [
    ['http://localhost:9000', 'My service'],
    ['http://127.0.0.1:9000', 'My service'],
    ['http://[::1]:9000', 'My service'],
    ['unix:/run/app.sock', 'My service'],
    ['http://app.internal:8000', 'app.internal:8000'],
    ['https://app.example.com', 'app.example.com'],
  ] as const)
    t.equal(titleOf(upstream), title, upstream);
});

t.test('the address of a service is written as people write it', async (t) => {
  for (const [text, url] of services) t.equal(parseServiceAddress(text, '/srv'), url, text);
  for (const text of [
    '',
    'localhost',
    ':0',
    ':65536',
    '::1',
    'http://h/path',
    'http://u@h',
    'ftp://h:1',
    'h:1/x',
  ])
    t.throws(() => parseServiceAddress(text, '/srv'), { message: /^must be HOST:PORT, :PORT, / }, text);
});

t.test('an address to listen on has a port, and perhaps a host', async (t) => {
  const listening = [
    ['8081', '127.0.0.1', 8081],
    [':8081', '127.0.0.1', 8081],
    ['0.0.0.0:80', '0.0.0.0', 80],
    ['localhost:1', 'localhost', 1],
    ['[::1]:8081', '::1', 8081],
    [':0', '127.0.0.1', 0],
  ] as const;
  for (const [text, host, port] of listening)
    t.strictSame(parseListenAddress(text, '127.0.0.1'), { host, port }, text);
  for (const text of ['', ':', 'localhost', '::1:80', '65536', 'a b:1', 'http://h:1', '80x'])
    t.throws(() => parseListenAddress(text, '127.0.0.1'), { message: /^must be PORT or HOST:PORT/ }, text);
});

t.test('the origin of a listener is what a browser can open', async (t) => {
  t.equal(originOf({ host: '127.0.0.1', port: 8080 }), 'http://127.0.0.1:8080');
  t.equal(originOf({ host: '::1', port: 8080 }), 'http://[::1]:8080');
  t.equal(originOf({ host: 'stock.example.com', port: 80 }), 'http://stock.example.com');
  for (const host of ['0.0.0.0', '::'])
    t.match(originOf({ host, port: 8080 }), /^http:\/\/(?!0\.0\.0\.0)\d+\.\d+\.\d+\.\d+:8080$/, host);
});

t.test('a port that someone listens on is passed over', async (t) => {
  const server = createServer();
  t.teardown(() => server.close());
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const { port } = server.address() as { port: number };
  await t.rejects(usedPort({ host: '127.0.0.1', port }), { code: 'EADDRINUSE' });
  const free = await freePort('127.0.0.1', port);
  t.ok(free !== port && free !== 0);
  t.not(await freePort('127.0.0.1', free, [free]), free);
});

t.test('commands are printed as a person types them', async (t) => {
  const folder = makeTemporaryFolder('postern-installed-');
  t.teardown(() => rmSync(folder, { recursive: true, force: true }));
  t.equal(commandIn(folder, {}, folder), 'postern', 'a command, if a package is installed');
  t.equal(commandIn(folder, { npm_command: 'exec' }, folder), 'npx @postern/gateway');
  writeFileSync(join(folder, 'postern'), '');
  t.equal(commandIn(folder, {}, folder), './postern', 'a path in the folder of an archive');
  t.equal(commandIn('/etc/postern', {}, folder), join(folder, 'postern'), 'elsewhere the whole path');
  const PATH = `:/nowhere:${join(folder, 'bin')}`;
  t.equal(commandIn('/etc/postern', { PATH }, folder), join(folder, 'postern'));
  mkdirSync(join(folder, 'bin'));
  writeFileSync(join(folder, 'bin/postern'), '', { mode: 0o755 });
  t.equal(commandIn('/etc/postern', { PATH }, folder), 'postern', 'unless a shell finds it');
  t.equal(commandIn(folder, { PATH }, folder), './postern');
  const spaced = join(folder, "it's $(here)");
  mkdirSync(spaced);
  writeFileSync(join(spaced, 'postern'), '#!/bin/sh\necho started\n', { mode: 0o755 });
  const { stdout } = spawnSync('sh', ['-c', commandIn(folder, {}, spaced)], {
    cwd: folder,
    encoding: 'utf8',
  });
  t.equal(stdout, 'started\n', 'a path that a shell takes as one word');
});
