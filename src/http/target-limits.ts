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
   * target may have. The head begins at `start`; it need not all be there.
   */
  uncounted(bytes: Buffer, start: number): number;
}

/** Enough of a head to see where it goes; a longer path leads to no long target. */
const beginningBytes = 256;
const space = 0x20;

/** Every target may have `maxBytes`, long ones their own limit if that is more. */
export function createTargetLimits(maxBytes: number, long: LongTargets): TargetLimits {
  const maxLongBytes = Math.max(maxBytes, long.maxBytes);
  return {
    isTooLong: (method, path, targetBytes) =>
      targetBytes > maxBytes && (targetBytes > maxLongBytes || !long.has(method, path)),
    uncounted(bytes, start) {
      const beginning = bytes.toString('latin1', start, start + beginningBytes);
      const [, method, path] = /^([A-Z]+) ([^ ?]*)\?/.exec(beginning) ?? [];
      if (method === undefined || path === undefined || !long.has(method, path)) return 0;
      const targetStart = start + method.length + 1;
      const end = bytes.indexOf(space, targetStart);
      return Math.min(maxLongBytes, (end < 0 ? bytes.length : end) - targetStart);
    },
  };
}
