import { readdirSync, readFileSync } from 'node:fs';
import { cpuMicroseconds, residentMiB } from '../usage.ts';

/** Memory of all processes of a row. */
export interface Memory {
  /** Pages of its own that it has written (`Private_Dirty`): what one more instance costs. */
  readonly privateMiB: number;
  /** `Pss`: those pages, and of each page that processes share an equal part. */
  readonly proportionalMiB: number;
}

/** CPU time and wake-ups up to now. */
export interface Activity {
  readonly atMs: number;
  readonly cpuMs: number;
  /** Voluntary context switches of all threads: each is a wait that something ended. */
  readonly wakeUps: number;
}

/** Activity by the second. */
export interface Rate {
  readonly cpuMsPerSecond: number;
  readonly wakeUpsPerSecond: number;
}

/** The memory of the processes now. */
export function readMemory(pids: readonly number[]): Memory {
  const kibibytes = pids.map((pid) =>
    Number(/^Private_Dirty:\s*(\d+) kB$/m.exec(readProc(pid, 'smaps_rollup'))?.[1] ?? 0),
  );
  return { privateMiB: sum(kibibytes) / 1024, proportionalMiB: residentMiB(pids) };
}

/** The activity of the processes until now. */
export function readActivity(pids: readonly number[]): Activity {
  const switches = pids.flatMap((pid) =>
    threadsOf(pid).map((thread) =>
      Number(/^voluntary_ctxt_switches:\s*(\d+)$/m.exec(readProc(pid, `task/${thread}/status`))?.[1] ?? 0),
    ),
  );
  return { atMs: performance.now(), cpuMs: cpuMicroseconds(pids) / 1_000, wakeUps: sum(switches) };
}

/** The activity between two readings of the same processes. */
export function rateBetween(from: Activity, to: Activity): Rate {
  const seconds = (to.atMs - from.atMs) / 1_000;
  return {
    cpuMsPerSecond: (to.cpuMs - from.cpuMs) / seconds,
    wakeUpsPerSecond: (to.wakeUps - from.wakeUps) / seconds,
  };
}

function threadsOf(pid: number): string[] {
  try {
    return readdirSync(`/proc/${pid}/task`);
  } catch {
    return [];
  }
}

function readProc(pid: number, file: string): string {
  try {
    return readFileSync(`/proc/${pid}/${file}`, 'utf8');
  } catch {
    return '';
  }
}

function sum(values: readonly number[]): number {
  return values.reduce((total, value) => total + value, 0);
}
