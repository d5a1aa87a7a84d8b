import { execFile } from 'node:child_process';
import { promisify } from 'node:util';

/** Runs the shell lines in a text, which are those that are indented, and gives the lines they print. */
export async function runLines(printed: string): Promise<string[]> {
  const script = printed
    .split('\n')
    .filter((line) => line.startsWith('  '))
    .join('\n');
  // An interactive zsh takes # for a command, and ! for its history.
  if (/^\s*#|!/m.test(script)) throw new Error(`can't be pasted into zsh: ${script}`);
  const { stdout } = await promisify(execFile)('sh', ['-euc', script]);
  return stdout.trimEnd().split('\n');
}
