import { spawnSync } from 'node:child_process';
import type { Test } from 'tap';

/** What npm reports where there is no registry to ask. */
const noRegistry =
  /\b(?:ENOTFOUND|EAI_AGAIN|ECONNREFUSED|ECONNRESET|ETIMEDOUT|ENETUNREACH|ENOTCACHED|E50\d)\b/;

/**
 * Runs npm as users do, without what the test runner sets, and gives what it prints. Undefined, and the test is skipped
 * visibly, if it needs a registry and there is none.
 */
export function runNpm(t: Test, args: readonly string[]): string | undefined {
  const plain = ['-u', 'NODE_OPTIONS', '-u', 'NODE_COMPILE_CACHE', 'npm', ...args];
  const { status, stdout, stderr } = spawnSync('env', plain, { encoding: 'utf8' });
  if (status === 0) return stdout;
  if (!noRegistry.test(stderr)) throw new Error(`npm ${args.join(' ')}: ${stderr}`);
  t.pass('needs packages', { skip: 'npm reaches no registry, and has not kept them' });
  return undefined;
}
