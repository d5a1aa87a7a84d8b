import { spawnSync } from 'node:child_process';
import { existsSync, realpathSync } from 'node:fs';
import { delimiter, join } from 'node:path';
import type { Test } from 'tap';

/**
 * A Node of this machine that is too old to run Postern but can hand over: 20 to 22.18. Undefined, and the test is skipped
 * visibly, if there is none: the packages bring only the Node that is shipped.
 */
export function requireOldNode(t: Test): string | undefined {
  const files = (process.env.PATH ?? '').split(delimiter).map((folder) => join(folder, 'node'));
  const found = files.find((file) => existsSync(file) && isOld(realpathSync(file)));
  if (found === undefined) t.pass('needs an old Node', { skip: 'no Node from 20 to 22.18 in PATH' });
  return found;
}

function isOld(file: string): boolean {
  // Without what the test runner has every Node load.
  const { stdout } = spawnSync('env', ['-u', 'NODE_OPTIONS', file, '--version'], { encoding: 'utf8' });
  const [major = 0, minor = 0] = (/v(\d+)\.(\d+)/.exec(stdout) ?? []).slice(1).map(Number);
  return major >= 20 && (major < 22 || (major === 22 && minor < 19));
}
