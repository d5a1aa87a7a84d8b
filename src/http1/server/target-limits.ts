/** Request targets that may be longer than others, because their queries must be. */
export interface LongTargets {
  readonly maxBytes: number;
  /** `path` has no query. */
  has(method: string, path: string): boolean;
}

/** Limits of the length of request targets. */
export interface TargetLimits {
  isTooLong(method: string, path: string, targetBytes: number): boolean;
  /** Maximum of {@link uncounted}. */
  readonly maxUncountedBytes: number;
  /**
   * Number of bytes of a long target in a head that begins at `start`: they don't count towards the limit of heads. At most the
   * limit of long targets, and just that for an incomplete head.
   */
  uncounted(bytes: Buffer, start: number, isComplete: boolean): number;
}

/** Bytes of a head that are searched for its path; no long target has a longer one. */
const beginningBytes = 256;
const space = 0x20;

/** Limits every target to `maxBytes`, and long ones to their own limit if it is higher. */
export function createTargetLimits(maxBytes: number, long: LongTargets): TargetLimits {
  const maxLongBytes = Math.max(maxBytes, long.maxBytes);

  function longMethodOf(bytes: Buffer, start: number): string | null {
    const beginning = bytes.toString('latin1', start, start + beginningBytes);
    const [, method, path] = /^([A-Z]+) ([^ ?]*)\?/.exec(beginning) ?? [];
    return method !== undefined && path !== undefined && long.has(method, path) ? method : null;
  }

  return {
    maxUncountedBytes: long.maxBytes === 0 ? 0 : maxLongBytes,
    isTooLong: (method, path, targetBytes) =>
      targetBytes > maxBytes && (targetBytes > maxLongBytes || !long.has(method, path)),
    uncounted(bytes, start, isComplete) {
      const method = longMethodOf(bytes, start);
      if (method === null) return 0;
      if (!isComplete) return maxLongBytes;
      const targetStart = start + method.length + 1;
      const end = bytes.indexOf(space, targetStart);
      return Math.min(maxLongBytes, (end < 0 ? bytes.length : end) - targetStart);
    },
  };
}
