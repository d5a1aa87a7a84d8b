import { execFile } from 'node:child_process';
import { promisify } from 'node:util';
import type { Test } from 'tap';

const run = promisify(execFile);

/** What a program said that ended with 0. */
export interface Said {
  readonly stdout: string;
  readonly stderr: string;
}

/** Whether this process is in a node; otherwise the test is skipped, visibly. */
export function requireNode(t: Test): boolean {
  if (process.env.POSTERN_KUBERNETES !== undefined) return true;
  t.pass('needs a Kubernetes', { skip: 'npm run test:kubernetes brings one up' });
  return false;
}

/** Runs a program to its end. Rejects with what it said when that is not 0. */
export async function command(program: string, args: readonly string[], input?: string): Promise<Said> {
  const running = run(program, args, { maxBuffer: 2 ** 28 });
  running.child.stdin?.end(input);
  return running;
}

export async function kubectl(...args: string[]): Promise<string> {
  return (await command('kubectl', args)).stdout;
}

/** The object, or list, that `kubectl get` gives. */
export async function get(...args: string[]): Promise<any> {
  return JSON.parse(await kubectl('get', '--output=json', ...args));
}

export function helm(...args: string[]): Promise<Said> {
  return command('helm', args);
}

/** Creates or changes objects. */
export async function apply(namespace: string, objects: readonly object[]): Promise<void> {
  const list = JSON.stringify({ apiVersion: 'v1', kind: 'List', items: objects });
  await command('kubectl', ['apply', '--server-side', '--namespace', namespace, '--filename', '-'], list);
}
