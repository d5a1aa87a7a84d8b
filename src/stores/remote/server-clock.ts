/** One comparison of this machine's clock with a server's. */
export interface ClockReading {
  /** How far this machine's clock is ahead, ms; negative: behind. */
  readonly aheadMs: number;
  /** By how much that may be wrong, ms: half the round trip. */
  readonly uncertaintyMs: number;
}

/** A store on a server, which has a clock of its own. */
export interface ServerClock {
  readonly store: 'records' | 'sessions';
  /** Compares `now`, epoch ms, with it, at every server that takes writes. Rejects `store_unavailable`. */
  compare(now: () => number): Promise<readonly ClockReading[]>;
}

/** How often a server is asked while it takes long to respond. */
const maxReadings = 3;
const goodUncertaintyMs = 50;

/** Compares `now` with the time, epoch ms, that `read` gets from a server. */
export async function compareClock(now: () => number, read: () => Promise<number>): Promise<ClockReading> {
  let best: ClockReading | undefined;
  for (let count = 0; count < maxReadings; count += 1) {
    // In this order: that this process had to wait between the two is part of the uncertainty.
    const sentAt = performance.now();
    const shown = now();
    const time = await read();
    const uncertaintyMs = (performance.now() - sentAt) / 2;
    if (best === undefined || uncertaintyMs < best.uncertaintyMs)
      best = { aheadMs: shown + uncertaintyMs - time, uncertaintyMs };
    if (best.uncertaintyMs <= goodUncertaintyMs) break;
  }
  return best!;
}
