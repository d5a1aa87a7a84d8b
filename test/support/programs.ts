import { spawnSync } from 'node:child_process';
import type { Test } from 'tap';

/**
 * Whether the test can go on with that program. Where it is missing the test is skipped, visibly; with
 * `POSTERN_TEST_ALL` set, where everything has to have run, it fails.
 */
export function requireProgram(t: Test, name: string): boolean {
  return requireOneOf(t, [name], 'version');
}

/** As {@link requireProgram}, where any of several will do; `probe` is an argument on which they end at once. */
export function requireOneOf(t: Test, names: readonly string[], probe: string): boolean {
  if (findProgram(names, probe) !== undefined) return true;
  const reason = `${names.join(' or ')} is not installed`;
  if (process.env.POSTERN_TEST_ALL === undefined) t.pass('needs a program', { skip: reason });
  else t.fail(reason);
  return false;
}

/** The first of those programs that is installed. */
export function findProgram(names: readonly string[], probe: string): string | undefined {
  return names.find((name) => spawnSync(name, [probe], { stdio: 'ignore' }).error === undefined);
}
