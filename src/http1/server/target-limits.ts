/** Request targets that may be longer than others, because their queries have to be long. */
export interface LongTargets {
  /** Limit for each of them. */
  readonly maxBytes: number;
  /** `path` has no query. */
  has(method: string, path: string): boolean;
}

/** How long request targets may be. */
export interface TargetLimits {
  isTooLong(method: string, path: string, targetBytes: number): boolean;
  /** The most that {@link uncounted} gives of any head. */
  readonly maxUncountedBytes: number;
  /**
   * How many bytes of a complete head, which begins at `start`, are a long target: they don't count towards the limit
   * of heads. At most the limit of long targets.
   */
  uncounted(bytes: Buffer, start: number): number;
  /** The most that {@link uncounted} may return once an incomplete head is complete; reads only method and path. */
  mostUncounted(bytes: Buffer, start: number): number;
}

/** Enough of a head to find its path; a longer path isn't that of a long target. */
const beginningBytes = 256;
const space = 0x20;

/** Every target may have `maxBytes`; long ones have their own limit, if it is higher. */
export function createTargetLimits(maxBytes: number, long: LongTargets): TargetLimits {
  const maxLongBytes = Math.max(maxBytes, long.maxBytes);

  /** The method of a head with a long target. */
  function longMethodOf(bytes: Buffer, start: number): string | null {
    const beginning = bytes.toString('latin1', start, start + beginningBytes);
    const [, method, path] = /^([A-Z]+) ([^ ?]*)\?/.exec(beginning) ?? [];
    return method !== undefined && path !== undefined && long.has(method, path) ? method : null;
  }

  return {
    maxUncountedBytes: long.maxBytes === 0 ? 0 : maxLongBytes,
    isTooLong: (method, path, targetBytes) =>
      targetBytes > maxBytes && (targetBytes > maxLongBytes || !long.has(method, path)),
    mostUncounted: (bytes, start) => (longMethodOf(bytes, start) === null ? 0 : maxLongBytes),
    uncounted(bytes, start) {
      const method = longMethodOf(bytes, start);
      if (method === null) return 0;
      const targetStart = start + method.length + 1;
      const end = bytes.indexOf(space, targetStart);
      return Math.min(maxLongBytes, (end < 0 ? bytes.length : end) - targetStart);
    },
  };
}
