/** Redis' clock as this process can tell it, epoch ms. */
export interface StoreClock {
  now(): number;
  /** Learns from an answer what the clock said; `sentAt` and `receivedAt` as by `performance.now()`. */
  learn(said: number, sentAt: number, receivedAt: number): void;
}

/** Creates the clock; until an answer has come it shows this machine's. */
export function createStoreClock(): StoreClock {
  let offset = Date.now() - performance.now();
  return {
    now: () => Math.floor(performance.now() + offset),
    learn(said, sentAt, receivedAt) {
      offset = said - (sentAt + receivedAt) / 2;
    },
  };
}
