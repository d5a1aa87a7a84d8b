import { readdirSync, readFileSync } from 'node:fs';

/** Resident memory of a process, in bytes. */
export function residentBytes(pid: number): number {
  const status = readFileSync(`/proc/${pid}/status`, 'utf8');
  return Number(/^VmRSS:\s*(\d+) kB$/m.exec(status)?.[1]) * 1024;
}

/** User and system time of a process so far, all its threads, in seconds (resolution 10 ms). */
export function cpuSeconds(pid: number): number {
  const stat = readFileSync(`/proc/${pid}/stat`, 'utf8');
  // The second field, the name, may hold spaces; Linux counts in hundredths on every architecture (USER_HZ).
  const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ');
  return (Number(fields[11]) + Number(fields[12])) / 100;
}

/** File descriptors that a process has open, sockets included. */
export function openDescriptors(pid: number): number {
  return readdirSync(`/proc/${pid}/fd`).length;
}

/** How many descriptors this process and its children may have open; Node raises the soft limit to it by itself. */
export function descriptorLimit(): number {
  const limits = readFileSync('/proc/self/limits', 'utf8');
  return Number(/^Max open files\s+(\d+)/m.exec(limits)?.[1]);
}

/** Looks at a process' memory ten times a second; `stop` gives the most there was, in bytes. */
export function watchResident(pid: number): { stop(): number } {
  let most = residentBytes(pid);
  const timer = setInterval(() => {
    most = Math.max(most, residentBytes(pid));
  }, 100);
  return {
    stop() {
      clearInterval(timer);
      return Math.max(most, residentBytes(pid));
    },
  };
}

/** In MiB, for messages and bounds. */
export function mebibytes(bytes: number): number {
  return Math.round((bytes / 2 ** 20) * 10) / 10;
}

/** Times that the threads of a process have waited for something and been woken, so far. */
export function wakeUps(pid: number): number {
  const count = /^voluntary_ctxt_switches:\s*(\d+)$/m;
  return ofThreads(pid, 'status', (text) => Number(count.exec(text)?.[1]));
}

/** CPU time of the threads of a process so far, in ms, to the nanosecond. */
export function cpuMilliseconds(pid: number): number {
  return ofThreads(pid, 'schedstat', (text) => Number(text.split(' ')[0]) / 1e6);
}

function ofThreads(pid: number, file: string, read: (text: string) => number): number {
  const threads = readdirSync(`/proc/${pid}/task`);
  return threads.reduce(
    (sum, thread) => sum + read(readFileSync(`/proc/${pid}/task/${thread}/${file}`, 'utf8')),
    0,
  );
}
