import { type ChildProcess, spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { cpSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import t from 'tap';
import { stringify } from 'yaml';
import { eventually } from '../support/eventually.ts';
import { testConfig } from '../support/gateway/gateway.ts';
import { requireOldNode } from '../support/old-node.ts';
import { makeTemporaryFolder } from '../support/temporary-folder.ts';

// What an old Node does with the launcher: it hands over to the Node of the packages, or says what is needed.
const launcher = resolve('bin/postern.js');
const folder = makeTemporaryFolder('postern-old-');
const config = join(folder, 'postern.yaml');
writeFileSync(config, stringify(testConfig('builtin:echo', {})));
t.teardown(() => rmSync(folder, { recursive: true, force: true }));

/** As operators start it: without what the test runner has every Node load. */
const plain = { ...process.env, NODE_OPTIONS: '', NODE_COMPILE_CACHE: '' };
const old = requireOldNode(t);

if (old !== undefined) {
  const run = (args: readonly string[], input = '') =>
    spawnSync(old, [...args], { encoding: 'utf8', env: plain, input });

  t.test('arguments, standard streams and exit codes are handed on', async (t) => {
    t.match(run([launcher, 'version']), { status: 0, stdout: /^\d+\.\d+\.\d+\n$/, stderr: '' });
    const wrong = run([launcher, 'check', '--config', join(folder, 'none.yaml')]);
    t.match(wrong, { status: 2, stdout: '', stderr: /none\.yaml/ });
    const add = [launcher, 'user', 'add', 'ada', '--config', config];
    t.match(run(add, 'correct horse battery staple\n'), { status: 0, stdout: /^[0-9a-f-]{36}\n$/ });
  });

  t.test('signals are passed on, and the launcher ends as the program does', async (t) => {
    const { child, printed } = serve(t, old);
    await eventually('it listens', () => printed().includes('listening on'));
    child.kill('SIGHUP');
    await eventually('it reads its configuration again', () =>
      /configuration/.test(printed().split('listening on')[1]!),
    );
    child.kill('SIGTERM');
    t.strictSame(await once(child, 'exit'), [0, null]);

    const second = serve(t, old);
    await eventually('it listens', () => second.printed().includes('listening on'));
    process.kill(childOf(second.child.pid!), 'SIGKILL');
    t.strictSame(await once(second.child, 'exit'), [null, 'SIGKILL']);
  });

  t.test('Ctrl-C on a terminal counts once', async (t) => {
    // The second one would end it with exit code 1. No shell may stay between: it would end by the same Ctrl-C.
    const command = `exec ${[old, launcher, 'serve', '--config', config].map((part) => `'${part}'`).join(' ')}`;
    const child = spawn('script', ['--quiet', '--flush', '--return', '--command', command, '/dev/null'], {
      env: plain,
      stdio: ['pipe', 'pipe', 'inherit'],
    });
    t.teardown(() => child.kill('SIGKILL'));
    let shown = '';
    child.stdout.on('data', (piece) => {
      shown += piece;
    });
    await eventually('it listens', () => shown.includes('listening on'));
    child.stdin.write('\x03');
    t.strictSame(await once(child, 'exit'), [0, null], shown);
  });

  t.test('where no Node has come along, a sentence says what is needed', async (t) => {
    const alone = join(folder, 'alone');
    mkdirSync(alone);
    cpSync('bin', join(alone, 'bin'), { recursive: true });
    writeFileSync(join(alone, 'package.json'), readFileSync('package.json'));
    const { status, stderr } = run([join(alone, 'bin/postern.js'), 'version']);
    t.equal(status, 1);
    t.match(stderr, /^postern: this is Node [\d.]+, and 22\.19 or later is needed; it comes with [^\n]+\n$/);
  });
}

function serve(t: { teardown: (end: () => void) => void }, node: string) {
  const child = spawn(node, [launcher, 'serve', '--config', config], { env: plain, stdio: 'pipe' });
  t.teardown(() => child.kill('SIGKILL'));
  let text = '';
  for (const stream of [child.stdout, child.stderr])
    stream.on('data', (piece) => {
      text += piece;
    });
  return { child: child as ChildProcess, printed: () => text };
}

function childOf(pid: number): number {
  return Number(readFileSync(`/proc/${pid}/task/${pid}/children`, 'utf8').trim().split(' ')[0]);
}
