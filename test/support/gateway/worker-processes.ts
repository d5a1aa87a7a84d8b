import { readdirSync, readFileSync, readlinkSync } from 'node:fs';
import { eventually } from '../eventually.ts';
import type { GatewayProcess } from './gateway-process.ts';

/** The workers of a supervisor, by process id; none if it has ended. */
export function workersOf(supervisor: number): number[] {
  try {
    const children = readFileSync(`/proc/${supervisor}/task/${supervisor}/children`, 'utf8');
    return children.split(' ').filter(Boolean).map(Number);
  } catch {
    return [];
  }
}

/** Whether that process is there; one that has ended and was not waited for yet isn't. */
export function isRunning(pid: number): boolean {
  try {
    return !/^State:\s+Z/m.test(readFileSync(`/proc/${pid}/status`, 'utf8'));
  } catch {
    return false;
  }
}

/** Kills one of the workers, and resolves once another serves in its place; rejects if none does. */
export async function replaceWorker({
  pid,
  managementPort,
}: Pick<GatewayProcess, 'pid' | 'managementPort'>): Promise<void> {
  const before = workersOf(pid!);
  process.kill(before[0]!, 'SIGKILL');
  await eventually(
    'another worker',
    async () => {
      const { ready, of } = (await readyz(managementPort)).workers;
      return ready === of && !workersOf(pid!).includes(before[0]!);
    },
    30_000,
  );
}

/** How many sockets that process has open. */
export function socketsOf(pid: number): number {
  const folder = `/proc/${pid}/fd`;
  return readdirSync(folder).filter((fd) => isSocket(`${folder}/${fd}`)).length;
}

function isSocket(link: string): boolean {
  try {
    return readlinkSync(link).startsWith('socket:');
  } catch {
    return false;
  }
}

/** The body of `/readyz`. */
export async function readyz(managementPort: number): Promise<any> {
  const response = await fetch(`http://127.0.0.1:${managementPort}/readyz`, {
    headers: { connection: 'close' },
  });
  return { code: response.status, ...((await response.json()) as object) };
}
