import { readFileSync } from 'node:fs';

/** Maximum number of connections for probes and scrapes. */
const maxManagementConnections = 100;

/** Maximum number of connections to the management listener. */
export function managementConnections(limit = readDescriptorLimit()): number {
  return atMost(maxManagementConnections, limit);
}

/**
 * Reads how many file descriptors this process may have open; infinite where the system doesn't say so in `/proc`. Node raises
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

/** Returns `most`, or a sixteenth of the limit if that is less; at least 8. */
export function atMost(most: number, limit: number): number {
  return Math.max(8, Math.min(most, Math.floor(limit / 16)));
}
