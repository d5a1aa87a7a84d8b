const pattern = /^00-(?!0{32})([0-9a-f]{32})-(?!0{16})([0-9a-f]{16})-([0-9a-f]{2})$/;
const length = 55;
const sampledFlag = 1;

/** What a `traceparent` says. */
export interface TraceParent {
  /** 32 hexadecimal digits. */
  readonly traceId: string;
  /** 16 hexadecimal digits. */
  readonly spanId: string;
  readonly isSampled: boolean;
}

/** Whether it is a value of `traceparent` (W3C Trace Context §3.2). */
export function isTraceparent(value: string): boolean {
  return value.length === length && pattern.test(value);
}

/** Reads a value of `traceparent`; null when it is none. */
export function parseTraceparent(value: string): TraceParent | null {
  const [, traceId, spanId, flags] = pattern.exec(value) ?? [];
  if (traceId === undefined || spanId === undefined || flags === undefined) return null;
  return { traceId, spanId, isSampled: (Number.parseInt(flags, 16) & sampledFlag) !== 0 };
}

/** Writes one. */
export function formatTraceparent({ traceId, spanId, isSampled }: TraceParent): string {
  return `00-${traceId}-${spanId}-${isSampled ? '01' : '00'}`;
}
