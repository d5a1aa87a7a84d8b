import { execFileSync } from 'node:child_process';
import { mkdirSync, readdirSync, readFileSync, rmSync, statSync } from 'node:fs';
import { dirname, join } from 'node:path';
import t, { type Test } from 'tap';
import { tryInstalled } from '../support/gateway/installed.ts';
import { requireOldNode } from '../support/old-node.ts';
import { runNpm } from '../support/programs/npm.ts';
import { makeTemporaryFolder } from '../support/temporary-folder.ts';

// The package as users install it: packed, installed into an empty prefix, started from an empty folder.
const folder = makeTemporaryFolder('postern-package-');
const prefix = join(folder, 'prefix');
const program = join(prefix, 'bin/postern');
const installed = join(prefix, 'lib/node_modules/@postern/gateway');
const mebibyte = 1024 * 1024;
t.teardown(() => rmSync(folder, { recursive: true, force: true }));
t.setTimeout(280_000);

const options = ['--prefer-offline', '--no-audit', '--no-fund', '--no-update-notifier'];
const packed = runNpm(t, ['pack', '--json', '--pack-destination', folder]);
const tarball = join(folder, readdirSync(folder).find((name) => name.endsWith('.tgz')) ?? '');

t.test('the tarball has what is built, within 1 MiB', async (t) => {
  const files: string[] = JSON.parse(packed!.slice(packed!.indexOf('[\n')))[0].files.map(
    ({ path }: any) => path,
  );
  t.ok(statSync(tarball).size < mebibyte, `${statSync(tarball).size} bytes`);
  const top = new Set(files.map((path) => path.split('/')[0]));
  const all = [
    'CHANGELOG.md',
    'LICENSE',
    'README.md',
    'bin',
    'config',
    'dist',
    'docs',
    'examples',
    'package.json',
  ];
  t.strictSame([...top].sort(), all);
  t.ok(files.includes('dist/NOTICES'));
  t.notOk(files.some((path) => /\.(?:map|cache|ts)$/.test(path)));
});

t.test('installed, it runs by any Node from 20', async (t) => {
  if (runNpm(t, ['install', '--global', '--prefix', prefix, ...options, tarball]) === undefined) return;
  t.test('under the Node that it is made for', (t) => start(t, process.execPath));
  t.test('under an old one', async (t) => {
    const old = requireOldNode(t);
    if (old !== undefined) await start(t, old);
  });
  t.test('dist/main.js hands over, too', async (t) => {
    const old = requireOldNode(t);
    if (old === undefined) return;
    const args = ['-u', 'NODE_OPTIONS', old, join(installed, 'dist/main.js'), 'version'];
    t.match(execFileSync('env', args, { encoding: 'utf8' }), /^\d+\.\d+\.\d+\n$/);
  });
  t.test('few packages are installed, and nothing that the bundle has', async (t) => {
    const names = readdirSync(join(installed, 'node_modules'));
    const { dependencies } = JSON.parse(readFileSync('src/package.json', 'utf8'));
    for (const name of Object.keys(dependencies)) t.notOk(names.includes(name), name);
    const bytes = (path: string) =>
      Number(execFileSync('du', ['-s', '--bytes', path], { encoding: 'utf8' }).split('\t')[0]);
    t.equal(
      names.filter((name) => name.startsWith('node-linux-')).length,
      1,
      'the Node of this machine alone',
    );
    t.ok(bytes(prefix) < 150 * mebibyte, `${bytes(prefix)} bytes`);
  });
});

/** Starts it from an empty folder where `node` is the first Node in PATH. */
async function start(t: Test, node: string): Promise<void> {
  const own = join(folder, `with ${node.replaceAll('/', ' ')}`);
  mkdirSync(own);
  await tryInstalled(t, program, own, `${dirname(node)}:/usr/bin:/bin`);
}
