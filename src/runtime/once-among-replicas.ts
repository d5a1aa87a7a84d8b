import type { SingleUse } from '../stores/single-use.ts';

/** How far the clocks of a gateway and of the store may be apart, ms. */
const clockToleranceMs = 3_600_000;

/**
 * Whether this replica is the first to do `work` in the current interval; `now` in epoch ms. Also true if that can't be
 * determined, so it is only for work that does no harm if every replica does it.
 */
export async function isFirstInInterval(
  singleUse: Pick<SingleUse, 'consume'>,
  work: string,
  intervalMs: number,
  now: number,
): Promise<boolean> {
  const interval = Math.floor(now / intervalMs);
  try {
    return await singleUse.consume(`${work} ${interval}`, now + intervalMs + clockToleranceMs);
  } catch {
    return true;
  }
}
