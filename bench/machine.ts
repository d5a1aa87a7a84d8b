import { accessSync, constants, readFileSync } from 'node:fs';
import { createServer } from 'node:net';
import { arch, cpus, release, totalmem, type } from 'node:os';
import { delimiter, join } from 'node:path';

/** Where daemons are installed, which is not on everybody's PATH. */
const daemonFolders = ['/usr/local/sbin', '/usr/sbin', '/sbin'];

/** The full path of an installed program, on PATH or where daemons are installed; undefined if there is none. */
export function findExecutable(name: string): string | undefined {
  const folders = [...(process.env.PATH ?? '').split(delimiter), ...daemonFolders];
  return folders.map((folder) => join(folder, name)).find(isExecutable);
}

function isExecutable(file: string): boolean {
  try {
    accessSync(file, constants.X_OK);
    return true;
  } catch {
    return false;
  }
}

/** The two CPUs of a run: one for the proxy, one for the load generator and the upstream; undefined: not pinned. */
export interface Pinning {
  readonly proxy: number | undefined;
  readonly load: number | undefined;
}

/** The first two CPUs this process may use, when there are two and taskset is installed. */
export function choosePinning(): Pinning {
  const [proxy, load] = allowedCpus();
  if (load === undefined || findExecutable('taskset') === undefined)
    return { proxy: undefined, load: undefined };
  return { proxy, load };
}

function allowedCpus(): number[] {
  const list = /^Cpus_allowed_list:\s*(\S+)$/m.exec(readFileSync('/proc/self/status', 'utf8'))?.[1] ?? '';
  return list.split(',').flatMap((range) => {
    const [first = 0, last = first] = range.split('-').map(Number);
    return Array.from({ length: last - first + 1 }, (_, index) => first + index);
  });
}

/** How many files and sockets this process may have open, and what it starts, too. */
export function descriptorLimit(): number {
  const limit = /^Max open files\s+(\d+|unlimited)/m.exec(readFileSync('/proc/self/limits', 'utf8'))?.[1];
  return limit === 'unlimited' ? Number.POSITIVE_INFINITY : Number(limit ?? 0);
}

/** One line about the machine, for the results. */
export function describeMachine(): string {
  const processors = cpus();
  const memory = Math.round(totalmem() / 2 ** 30);
  return `${processors.length} × ${processors[0]?.model.trim() ?? 'unknown CPU'}, ${memory} GiB, ${type()} ${release()} ${arch()}`;
}

/** A loopback port that was free a moment ago. */
export async function freePort(): Promise<number> {
  const server = createServer();
  return new Promise((resolve, reject) => {
    server.once('error', reject);
    server.listen(0, '127.0.0.1', () => {
      const address = server.address();
      const port = typeof address === 'object' && address !== null ? address.port : 0;
      server.close(() => resolve(port));
    });
  });
}
