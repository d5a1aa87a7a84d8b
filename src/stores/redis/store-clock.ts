/** Redis' clock as this process can tell it, epoch ms. */
export interface StoreClock {
  now(): number;
  /** No later than it is there: an instant that has come by this has come there too. */
  earliest(): number;
  /** Learns from a response what the clock said; `sentAt` and `receivedAt` as by `performance.now()`. */
  learn(said: number, sentAt: number, receivedAt: number): void;
}

/** Creates the clock; until a response has come it shows this machine's. */
export function createStoreClock(): StoreClock {
  let offset = Date.now() - performance.now();
  let leastOffset = offset;
  return {
    now: () => Math.floor(performance.now() + offset),
    earliest: () => Math.floor(performance.now() + leastOffset),
    learn(said, sentAt, receivedAt) {
      offset = said - (sentAt + receivedAt) / 2;
      // As if the response had taken no time to come back: how long it did is not known.
      leastOffset = said - receivedAt;
    },
  };
}
