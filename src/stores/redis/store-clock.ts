/** Redis' clock as this process estimates it, epoch ms. */
export interface StoreClock {
  now(): number;
  /** Never ahead of the store's clock: an instant that has passed by this has passed there, too. */
  earliest(): number;
  /** Learns the clock from a response with `time`; `sentAt` and `receivedAt` as by `performance.now()`. */
  learn(time: number, sentAt: number, receivedAt: number): void;
}

/** Creates the clock; it shows this machine's time until the first response. */
export function createStoreClock(): StoreClock {
  let offset = Date.now() - performance.now();
  let leastOffset = offset;
  return {
    now: () => Math.floor(performance.now() + offset),
    earliest: () => Math.floor(performance.now() + leastOffset),
    learn(time, sentAt, receivedAt) {
      offset = time - (sentAt + receivedAt) / 2;
      // As if the response had taken no time to arrive: how long it did is unknown.
      leastOffset = time - receivedAt;
    },
  };
}
