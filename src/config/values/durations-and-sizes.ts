import { z } from 'zod';

const millisecondsOf = { ms: 1, s: 1000, m: 60_000, h: 3_600_000, d: 86_400_000 } as const;
const bytesOf = { B: 1, KiB: 1024, MiB: 1024 ** 2, GiB: 1024 ** 3 } as const;

const durationPattern = /^(\d{1,9})(ms|s|m|h|d)$/;
const sizePattern = /^(\d{1,9})(B|KiB|MiB|GiB)?$/;

const durationRule = 'must be a duration such as 500ms, 10s, 15m, 12h or 30d';
const sizeRule = 'must be a size such as 512, 64KiB, 10MiB or 1GiB';

/** The milliseconds of a duration such as `10s`. Units: ms, s, m, h, d. Throws a RangeError for anything else. */
export function parseDuration(text: string): number {
  const match = durationPattern.exec(text);
  if (!match) throw new RangeError(durationRule);
  return Number(match[1]) * millisecondsOf[match[2] as keyof typeof millisecondsOf];
}

/** Formats a duration in the largest unit that needs no fraction. */
export function formatDuration(milliseconds: number): string {
  const units = Object.entries(millisecondsOf).reverse();
  const [unit, length] = units.find(([, each]) => milliseconds >= each && milliseconds % each === 0) ?? [
    's',
    1000,
  ];
  return `${milliseconds / length}${unit}`;
}

/** The bytes of a size such as `64KiB`. Units: none or B, KiB, MiB, GiB. Throws a RangeError for anything else. */
export function parseSize(text: string): number {
  const match = sizePattern.exec(text);
  if (!match) throw new RangeError(sizeRule);
  return Number(match[1]) * bytesOf[(match[2] ?? 'B') as keyof typeof bytesOf];
}

/** A duration, written like `10s` and parsed to milliseconds. Both bounds are inclusive; by default there is no maximum. */
export function duration({ min = '1ms', max }: { min?: string; max?: string } = {}) {
  const least = parseDuration(min);
  const most = max === undefined ? Number.POSITIVE_INFINITY : parseDuration(max);
  return z
    .string({ error: durationRule })
    .regex(durationPattern, { error: durationRule, abort: true })
    .transform((text) => parseDuration(text))
    .refine((value) => value >= least, { error: `must be at least ${min}` })
    .refine((value) => value <= most, { error: `must be at most ${max}` });
}

/**
 * A duration for a timer: at most 24 days, because a Node timer of 2^31 ms or more fires at once, which would turn the longest
 * timeout into the shortest.
 */
export function timeout({ min = '1ms' }: { min?: string } = {}) {
  return duration({ min, max: '24d' });
}

/** A size, written like `64KiB` or as a number, and parsed to bytes. Both bounds are inclusive; by default at least 1. */
export function size({ min = 1, max = Number.MAX_SAFE_INTEGER }: { min?: number; max?: number } = {}) {
  return z
    .union([z.int(sizeRule).min(0, sizeRule), z.string().regex(sizePattern, sizeRule)], { error: sizeRule })
    .transform((value) => (typeof value === 'number' ? value : parseSize(value)))
    .refine((value) => value >= min, { error: `must be at least ${min} bytes` })
    .refine((value) => value <= max, { error: `must be at most ${max} bytes` });
}
