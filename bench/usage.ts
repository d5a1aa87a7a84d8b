import { readdirSync, readFileSync } from 'node:fs';

/** Linux counts CPU time for user space in hundredths of a second on every architecture (USER_HZ). */
const ticksPerSecond = 100;

/** All living processes of the groups led by `leaders`: workers count as much as the process that started them. */
export function processesOf(leaders: readonly number[]): number[] {
  return readdirSync('/proc')
    .filter((name) => /^\d+$/.test(name))
    .map(Number)
    .filter((pid) => {
      const group = statFields(pid)?.[2];
      return group !== undefined && leaders.includes(Number(group));
    });
}

/**
 * User and system time of the processes, all their threads counted, in microseconds: by the scheduler's own count, or, where
 * the kernel doesn't show it, with a resolution of 10 ms. The scheduler's forgets threads that have ended.
 */
export function cpuMicroseconds(pids: readonly number[]): number {
  let microseconds = 0;
  for (const pid of pids) microseconds += scheduledMicroseconds(pid) ?? countedMicroseconds(pid);
  return microseconds;
}

function scheduledMicroseconds(pid: number): number | undefined {
  let nanoseconds: number | undefined;
  for (const thread of threadsOf(pid)) {
    const scheduled = readProc(pid, `task/${thread}/schedstat`)?.split(' ')[0];
    if (scheduled !== undefined) nanoseconds = (nanoseconds ?? 0) + Number(scheduled);
  }
  return nanoseconds && nanoseconds / 1_000;
}

function countedMicroseconds(pid: number): number {
  const fields = statFields(pid);
  const ticks = Number(fields?.[11] ?? 0) + Number(fields?.[12] ?? 0);
  return (ticks / ticksPerSecond) * 1e6;
}

function threadsOf(pid: number): readonly string[] {
  try {
    return readdirSync(`/proc/${pid}/task`);
  } catch {
    return [];
  }
}

/** The sum of each process's peak resident set, in MiB. */
export function peakMemoryMiB(pids: readonly number[]): number {
  let kibibytes = 0;
  for (const pid of pids) {
    kibibytes += Number(/^VmHWM:\s*(\d+) kB$/m.exec(readProc(pid, 'status') ?? '')?.[1] ?? 0);
  }
  return kibibytes / 1024;
}

/** The memory of the processes now, in MiB: what several of them share counts once. */
export function residentMiB(pids: readonly number[]): number {
  let kibibytes = 0;
  for (const pid of pids) {
    kibibytes += Number(/^Pss:\s*(\d+) kB$/m.exec(readProc(pid, 'smaps_rollup') ?? '')?.[1] ?? 0);
  }
  return kibibytes / 1024;
}

/** The fields of /proc/PID/stat from the third (state) on: the second holds the name and may hold spaces. */
function statFields(pid: number): string[] | undefined {
  const stat = readProc(pid, 'stat');
  return stat?.slice(stat.lastIndexOf(')') + 2).split(' ');
}

function readProc(pid: number, file: string): string | undefined {
  try {
    return readFileSync(`/proc/${pid}/${file}`, 'utf8');
  } catch {
    return undefined;
  }
}
