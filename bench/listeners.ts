import { readdirSync, readFileSync, readlinkSync } from 'node:fs';

/** `st` of a listening socket in /proc/net/tcp. */
const listening = '0A';

/** Throws unless every listener on the port, at any address, belongs to these processes: only that proves who responds. */
export function requireListeners(port: number, pids: readonly number[]): void {
  const sockets = listeningSockets(port);
  const own = new Set(pids.flatMap(socketsOf));
  if (sockets.length === 0) throw new Error(`nothing listens on port ${port}`);
  if (!sockets.every((socket) => own.has(socket)))
    throw new Error(`another process than the one started listens on port ${port}`);
}

/** Inodes of the sockets that listen on the port, of IPv4 and IPv6. */
function listeningSockets(port: number): string[] {
  const suffix = `:${port.toString(16).toUpperCase().padStart(4, '0')}`;
  return ['tcp', 'tcp6'].flatMap((family) =>
    linesOf(`/proc/net/${family}`).flatMap((line) => {
      const fields = line.trim().split(/\s+/);
      const [local, state, inode] = [fields[1], fields[3], fields[9]];
      return local?.endsWith(suffix) && state === listening && inode !== undefined ? [inode] : [];
    }),
  );
}

function linesOf(file: string): string[] {
  try {
    return readFileSync(file, 'utf8').split('\n');
  } catch {
    // A kernel without IPv6.
    return [];
  }
}

/** Inodes of a process's sockets. */
function socketsOf(pid: number): string[] {
  const folder = `/proc/${pid}/fd`;
  try {
    return readdirSync(folder).flatMap((descriptor) => socketInode(`${folder}/${descriptor}`) ?? []);
  } catch {
    return [];
  }
}

function socketInode(link: string): string | undefined {
  try {
    return /^socket:\[(\d+)\]$/.exec(readlinkSync(link))?.[1];
  } catch {
    // Closed in the meantime.
    return undefined;
  }
}
