import { type ChildProcess, spawn } from 'node:child_process';
import type { Socket } from 'node:net';

/** Reads lists of process ids; once there is no more to read, it kills the last list's. */
const script = 'while read -r line; do pids=$line; done; kill -9 $pids';

const guarded = new Set<number>();
let guard: Socket | null = null;

/**
 * The process does not outlive this one, however that ends: a runner that kills a test that takes too long leaves it no
 * time for teardowns.
 */
export function guardProcess(child: ChildProcess): void {
  const { pid } = child;
  if (pid === undefined) return;
  guarded.add(pid);
  tellGuard();
  child.once('exit', () => {
    guarded.delete(pid);
    tellGuard();
  });
}

function tellGuard(): void {
  guard ??= startGuard();
  guard.write(`${[...guarded].join(' ')}\n`);
}

function startGuard(): Socket {
  // In a process group of its own, or it would be killed along with the test.
  const child = spawn('sh', ['-c', script], { stdio: ['pipe', 'ignore', 'ignore'], detached: true });
  child.unref();
  const input = child.stdin as Socket;
  input.unref();
  return input;
}
