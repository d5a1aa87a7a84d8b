/** Request targets that may be longer than others because they need long queries. */
export interface LongTargets {
  readonly maxBytes: number;
  /** True if the target may be long; `path` is the target without its query. */
  has(method: string, path: string): boolean;
}

/** Limits on the length of request targets. */
export interface TargetLimits {
  isTooLong(method: string, path: string, targetBytes: number): boolean;
  /** Maximum that {@link uncounted} returns. */
  readonly maxUncountedBytes: number;
  /**
   * Number of bytes of the head at `start` that don't count towards its limit, because they belong to a long target; 0 for other
   * targets. At most the limit of long targets, and always that limit if the head is incomplete.
   */
  uncounted(bytes: Buffer, start: number, isComplete: boolean): number;
}

/** Number of bytes at the beginning of a head that are searched for its method and path, which is enough for any long target. */
const beginningBytes = 256;
const space = 0x20;

/** Limits every target to `maxBytes`, but the targets of `long` to `long.maxBytes` if that is more. */
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
