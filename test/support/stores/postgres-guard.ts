import { spawn } from 'node:child_process';
import type { Socket } from 'node:net';

/**
 * Its input ends with the process that started it. A server ended by SIGQUIT, and not killed, leaves no shared memory
 * behind.
 */
const script = `
  read -r _
  pid=$(head -n 1 "$1/data/postmaster.pid")
  if grep -q "$1/" "/proc/$pid/cmdline"; then
    kill -QUIT "$pid"; kill -CONT "$pid" $(cat "/proc/$pid/task/$pid/children")
    tries=100
    while [ $tries -gt 0 ] && kill -0 "$pid"; do sleep 0.1; tries=$((tries - 1)); done
    kill -9 "$pid"
  fi
  rm -rf "$1"
`;

/**
 * The server of that folder does not outlive this process, however that ends, nor does the folder: see {@link
 * ../gateway/guarded-process.ts guardProcess}. Gives a function that cancels the guard.
 */
export function guardPostgres(folder: string): () => void {
  const guard = spawn('sh', ['-c', script, 'sh', folder], {
    stdio: ['pipe', 'ignore', 'ignore'],
    detached: true,
  });
  guard.unref();
  (guard.stdin as Socket).unref();
  return () => void guard.kill('SIGKILL');
}
