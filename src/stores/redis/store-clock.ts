import { ClockTrack, createSteadyClock, type SteadyClock } from '../steady-clock.ts';

/** Redis' clock as this process estimates it, epoch ms. */
export interface StoreClock extends SteadyClock {
  /** Never ahead of the store's clock: an instant that has passed by this has passed there, too. */
  earliest(): number;
  /** Learns the clock from a response with `time`; `sentAt` and `receivedAt` as by `performance.now()`. */
  learn(time: number, sentAt: number, receivedAt: number): void;
}

/** Creates the clock; it shows this machine's time until the first response. */
export function createStoreClock(): StoreClock {
  const offset = Date.now() - performance.now();
  let leastOffset = offset;
  // This machine's time is a guess: that Redis' is another is no step of Redis' clock.
  const track = new ClockTrack(offset, Number.POSITIVE_INFINITY);
  return {
    now: () => track.now(performance.now()),
    unbroken: () => track.unbroken(performance.now()),
    earliest: () => Math.floor(performance.now() + leastOffset),
    learn(time, sentAt, receivedAt) {
      // Halfway: how long the response took to arrive is unknown.
      track.learn(time - (sentAt + receivedAt) / 2, receivedAt, (receivedAt - sentAt) / 2);
      leastOffset = time - receivedAt;
    },
  };
}

/** A clock that a test has in its hand, in place of Redis' own. */
export function createTestClock(now: () => number, elapsed?: () => number): StoreClock {
  return { ...createSteadyClock(now, elapsed), earliest: now, learn: () => {} };
}
