/** Request targets that may be longer than others: what belongs there comes in the query, and is long. */
export interface LongTargets {
  /** Of each of them. */
  readonly maxBytes: number;
  /** `path` is without the query. */
  has(method: string, path: string): boolean;
}

/** How long request targets may be. */
export interface TargetLimits {
  isTooLong(method: string, path: string, targetBytes: number): boolean;
  /**
   * How many bytes of a head are those of a long target, and don't count against the limit of heads: at most what such a
   * target may have. The head begins at `start` and is all there.
   */
  uncounted(bytes: Buffer, start: number): number;
  /** The same of a head that is not all there, for whatever may still come of its target; it looks at no more than its path. */
  mostUncounted(bytes: Buffer, start: number): number;
}

/** Enough of a head to see where it goes; a longer path leads to no long target. */
const beginningBytes = 256;
const space = 0x20;

/** Every target may have `maxBytes`, long ones their own limit if that is more. */
export function createTargetLimits(maxBytes: number, long: LongTargets): TargetLimits {
  const maxLongBytes = Math.max(maxBytes, long.maxBytes);

  /** The method of a head with a long target. */
  function longMethodOf(bytes: Buffer, start: number): string | null {
    const beginning = bytes.toString('latin1', start, start + beginningBytes);
    const [, method, path] = /^([A-Z]+) ([^ ?]*)\?/.exec(beginning) ?? [];
    return method !== undefined && path !== undefined && long.has(method, path) ? method : null;
  }

  return {
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
