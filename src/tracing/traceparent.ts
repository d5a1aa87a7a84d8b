const pattern = /^00-(?!0{32})([0-9a-f]{32})-(?!0{16})([0-9a-f]{16})-([0-9a-f]{2})$/;
const length = 55;
/** Matches a value of a later version, whose additions follow another dash. */
const laterVersion = /^(?!00|ff)[0-9a-f]{2}-.{52}(?:-|$)/;
const sampledFlag = 1;

interface TraceParent {
  readonly traceId: string;
  readonly spanId: string;
  readonly isSampled: boolean;
}

/** The `traceparent`, a later version's reduced to version 00; null if invalid (W3C Trace Context §3.2). */
export function acceptTraceparent(value: string): string | null {
  if (value.length === length && pattern.test(value)) return value;
  if (!laterVersion.test(value)) return null;
  const known = parseTraceparent(`00${value.slice(2, length)}`);
  return known === null ? null : formatTraceparent(known);
}

/** Parses a version 00 value; null if it isn't one. */
export function parseTraceparent(value: string): TraceParent | null {
  const [, traceId, spanId, flags] = pattern.exec(value) ?? [];
  if (traceId === undefined || spanId === undefined || flags === undefined) return null;
  return { traceId, spanId, isSampled: (Number.parseInt(flags, 16) & sampledFlag) !== 0 };
}

/** Formats a version 00 value. */
export function formatTraceparent({ traceId, spanId, isSampled }: TraceParent): string {
  return `00-${traceId}-${spanId}-${isSampled ? '01' : '00'}`;
}
