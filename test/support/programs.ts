import { spawnSync } from 'node:child_process';
import type { Test } from 'tap';

/**
 * Whether the test can go on with that program. Where it is missing the test is skipped, visibly; with
 * `POSTERN_TEST_ALL` set, where everything has to have run, it fails.
 */
export function requireProgram(t: Test, name: string): boolean {
  if (spawnSync(name, ['version'], { stdio: 'ignore' }).error === undefined) return true;
  const reason = `${name} is not installed`;
  if (process.env.POSTERN_TEST_ALL === undefined) t.pass('needs a program', { skip: reason });
  else t.fail(reason);
  return false;
}
