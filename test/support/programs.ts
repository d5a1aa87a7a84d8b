import { spawnSync } from 'node:child_process';
import type { Test } from 'tap';

/**
 * Whether the test can go on with that program. Where it is missing the test is skipped, visibly; with
 * `POSTERN_TEST_ALL` set, as where everything has to have run, it fails.
 */
export function requireProgram(t: Test, name: string): boolean {
  if (isInstalled(name)) return true;
  if (process.env.POSTERN_TEST_ALL === undefined) t.comment(`skipped: ${name} is not installed`);
  else t.fail(`${name} is not installed`);
  t.pass('SKIPPED', { skip: `${name} is not installed` });
  return false;
}

function isInstalled(name: string): boolean {
  return spawnSync(name, ['version'], { stdio: 'ignore' }).error === undefined;
}
