import { spawn, spawnSync } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import t from 'tap';
import { requireProgram } from '../programs.ts';

/** Set in the process that runs in a network of its own. */
const mark = 'POSTERN_TEST_OWN_NETWORK';
/** Of the whole file: a name that is silent takes seconds each time. */
const timeoutMs = 300_000;
/** Root of namespaces that begin with nothing but a loopback device: no one outside sees them. */
const namespaces = ['--map-root-user', '--net', '--mount', '--fork', '--kill-child'];
const mounts =
  'ip link set lo up; cd "$0"; for name in *; do mount --bind "$name" "/etc/$name"; done; cd "$OLDPWD"; exec "$@"';

/**
 * Runs the tests of a file in a network of its own, where these files stand in `/etc` for the system's: the file runs
 * again there, and the test here is that it passes. Skipped, visibly, where namespaces can't be made.
 */
export function testInOwnNetwork(
  file: string,
  etc: Readonly<Record<string, string>>,
  tests: () => void,
): void {
  t.setTimeout(timeoutMs);
  if (process.env[mark] !== undefined) {
    tests();
    return;
  }
  t.test('in a network of its own', { timeout: timeoutMs }, async (t) => {
    if (!requireProgram(t, 'unshare') || !requireProgram(t, 'ip')) return;
    if (spawnSync('unshare', [...namespaces, 'ip', 'link', 'set', 'lo', 'up']).status !== 0) {
      // Nothing that could be installed would change that.
      t.pass('needs namespaces', { skip: 'this machine lets us make no namespaces' });
      return;
    }
    const folder = mkdtempSync(join(tmpdir(), 'postern-etc-'));
    t.teardown(() => rmSync(folder, { recursive: true }));
    for (const [name, text] of Object.entries(etc)) writeFileSync(join(folder, name), text);
    const child = spawn(
      'unshare',
      [...namespaces, 'bash', '-c', mounts, folder, 'env', '-u', 'NODE_OPTIONS', process.execPath, file],
      { env: { ...process.env, [mark]: '1' }, stdio: ['ignore', 'pipe', 'pipe'] },
    );
    let output = '';
    child.stdout.on('data', (bytes) => {
      output += bytes;
    });
    child.stderr.on('data', (bytes) => {
      output += bytes;
    });
    const code = await new Promise((resolve) => child.on('close', resolve));
    t.equal(code, 0, 'its tests pass');
    for (const line of code === 0 ? [] : output.split('\n')) t.comment(line);
  });
}
