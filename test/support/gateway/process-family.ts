import { readFileSync } from 'node:fs';

/** Sends the signal to each of those that still exist. */
export function signalEach(pids: readonly number[], signal: NodeJS.Signals): void {
  for (const pid of pids)
    try {
      process.kill(pid, signal);
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code !== 'ESRCH') throw error;
    }
}

/** Stops a process and its children; gives the ids of all of them. */
export function stopFamily(pid: number): number[] {
  const stopped = new Set<number>();
  // Until there is none that came before its parent stood still.
  for (let fresh = [pid]; fresh.length > 0; fresh = familyOf(pid).filter((each) => !stopped.has(each))) {
    signalEach(fresh, 'SIGSTOP');
    for (const each of fresh) stopped.add(each);
  }
  return [...stopped];
}

/** Undoes {@link stopFamily}. */
export function resumeFamily(pid: number): void {
  // The children first: their parent may get to end them.
  signalEach(familyOf(pid).reverse(), 'SIGCONT');
}

/** Whether it has not ended; one that nobody has waited for has. */
export function isRunning(pid: number): boolean {
  try {
    return !/^\d+ \(.*\) [ZX] /s.test(readFileSync(`/proc/${pid}/stat`, 'utf8'));
  } catch {
    return false;
  }
}

/** The process and its descendants, parents first. */
export function familyOf(pid: number): number[] {
  const children = readFileSync(`/proc/${pid}/task/${pid}/children`, 'utf8').split(' ').filter(Boolean);
  return [pid, ...children.map(Number)];
}
