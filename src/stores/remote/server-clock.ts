/** A comparison of this machine's clock with a server's. */
export interface ClockReading {
  /** Lead of this machine's clock, ms; negative: it is behind. */
  readonly aheadMs: number;
  /** Largest error of `aheadMs`, ms: half the round trip. */
  readonly uncertaintyMs: number;
}

/** Clock of the server, or the servers, of a store. */
export interface ServerClock {
  readonly store: 'records' | 'sessions';
  /** Compares `now`, epoch ms, with the clock of every server that takes writes. Rejects `store_unavailable`. */
  compare(now: () => number): Promise<readonly ClockReading[]>;
}

/** Compares `now` with the time that `read` gets from a server, both epoch ms. */
export async function compareClock(now: () => number, read: () => Promise<number>): Promise<ClockReading> {
  // In this order: time that this process spends waiting between the two is part of the uncertainty.
  const sentAt = performance.now();
  const shown = now();
  const time = await read();
  const uncertaintyMs = (performance.now() - sentAt) / 2;
  return { aheadMs: shown + uncertaintyMs - time, uncertaintyMs };
}
