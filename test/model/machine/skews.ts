import type { Random } from '../../support/corpora/random.ts';

/**
 * How far clocks are off all the time, to either side, ms. Gateways on one SQLite file are on one machine: they are only as
 * far apart as can't stop grace from being judged. Otherwise far beyond the 2 s that are warned of; with the largest step
 * of a clock no token is 60 s ahead anywhere.
 */
export const skewsMs = { gateways: 250, replicas: 15_000 } as const;

/** How exactly instants are compared, ms. */
export const roundingMs = 30;

/** A skew up to `mostMs` to either side. */
export function drawSkew(random: Random, mostMs: number): number {
  return random.below(2 * mostMs) - mostMs;
}
