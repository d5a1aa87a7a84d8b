import { closeSync, openSync, readdirSync, readFileSync } from 'node:fs';

/**
 * How many file descriptors this process may have open; infinite where the system doesn't say so in `/proc`. Node raises
 * the soft limit to the hard one when it starts.
 */
export function readDescriptorLimit(): number {
  try {
    const [, limit] = /^Max open files\s+(\d+)/m.exec(readFileSync('/proc/self/limits', 'utf8')) ?? [];
    return limit === undefined ? Number.POSITIVE_INFINITY : Number(limit);
  } catch {
    return Number.POSITIVE_INFINITY;
  }
}

/** How many descriptors are open now; 0 where the system doesn't say. */
export function countOpenDescriptors(): number {
  try {
    // One of them is the folder itself, while it is read.
    return readdirSync('/proc/self/fd').length - 1;
  } catch {
    return 0;
  }
}

/** Whether there is none left, of this process or of the whole machine: libuv closes new connections then without a word. */
export function isOutOfDescriptors(): boolean {
  try {
    closeSync(openSync('/dev/null', 'r'));
    return false;
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    return code === 'EMFILE' || code === 'ENFILE';
  }
}
